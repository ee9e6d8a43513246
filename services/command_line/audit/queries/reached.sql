-- How far ledger and ratings have got.
select last_number as number, last_position as position,
       coalesce((select max(number) from rating.checkpoints where consumer = 'rating'), 0) as rated
from scoring.progress
