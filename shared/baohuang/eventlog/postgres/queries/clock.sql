-- clock: this database's clock now.
select clock_timestamp() as now
