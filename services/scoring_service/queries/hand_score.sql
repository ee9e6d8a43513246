-- hand_score: the posting of one hand that counts, and whether its table is private, which the table's first event says.
select p.type, p.data, coalesce(opened.data ->> 'invitationDigest', '') <> '' as private
from postings as p
left join eventlog_public.events as opened on opened.stream_id = p.table_id and opened.version = 1
where p.table_id = $1 and p.hand = $2
order by p.number desc
limit 1
