-- still_waiting: note one more try that failed, and why.
update unscored set error = $2, tries = tries + 1 where number = $1
