-- What a request was, and what it was answered with.
select digest, response from requests where caller = $1 and request_id = $2;
