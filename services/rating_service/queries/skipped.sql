-- skipped: the postings that operators had a consumer skip.
select number from set_aside where consumer = $1 and settled_as = 'skipped' order by number
