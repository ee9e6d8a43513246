-- by_clause: citing the clause.
e.data ->> 'rule' = $9
