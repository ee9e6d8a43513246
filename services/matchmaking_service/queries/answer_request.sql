-- Keeps the answer of a request that this transaction carries out.
update requests set response = $3 where caller = $1 and request_id = $2;
