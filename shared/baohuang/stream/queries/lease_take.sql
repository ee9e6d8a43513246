-- lease_take: take a source's lease if it is free, or whoever has it when told to ($4); no row if it is somebody's.
insert into relays as r (source, holder, epoch, leased_until)
values ($1, $2, 1, clock_timestamp() + make_interval(secs => $3))
on conflict on constraint a_source_has_one_relay do update
set holder = excluded.holder, epoch = r.epoch + 1, leased_until = excluded.leased_until
where r.leased_until <= clock_timestamp() or $4
returning epoch, number
