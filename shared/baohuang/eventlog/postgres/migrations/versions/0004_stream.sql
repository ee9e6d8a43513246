-- The stream: what other services may read of the log.

create schema eventlog_public;

create view eventlog_public.events as
select position, stream_id, version, type, data - 'hidden' as data, actor, recorded_at, hash
from eventlog.events;

comment on schema eventlog_public is
    'What everybody may know of the log, for other services of this system to fill gaps from and to compute anew.';
comment on view eventlog_public.events is
    'The events without what is hidden: no key "hidden", no salt, no request id. As redact for the public.';

grant usage on schema eventlog_public to baohuang_log_reader, baohuang_app;
grant select on eventlog_public.events to baohuang_log_reader, baohuang_app;
