-- compare_accounts: every account as text, under its name.
select account as key, to_jsonb(a)::text as row from accounts as a order by account
