-- hand_score: the posting of one hand, and whether its table is private: the log has that in the table's first event.
select p.type, p.data, coalesce(opened.data ->> 'invitationDigest', '') <> '' as private
from postings as p
left join eventlog_public.events as opened on opened.stream_id = p.table_id and opened.version = 1
where p.table_id = $1 and p.hand = $2
