-- hand_score: the posting of one hand.
select type, data from postings where table_id = $1 and hand = $2
