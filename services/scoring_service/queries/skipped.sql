-- skipped: what operators skipped, and what they said.
select number, data ->> 'reason' as reason from postings where type = 'PostingSkipped' order by number
