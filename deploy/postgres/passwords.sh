#!/bin/sh
# Gives the logins of roles.sql their passwords, when the container of PostgreSQL makes its cluster.
set -eu

give() {
    psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
        --set login="$1" --set password="$2" <<'SQL'
alter role :"login" password :'password';
SQL
}

give baohuang_owner "$OWNER_PASSWORD"
give login_table "$TABLE_PASSWORD"
give login_scoring "$SCORING_PASSWORD"
give login_rating "$RATING_PASSWORD"
give login_matchmaking "$MATCHMAKING_PASSWORD"
give login_history "$HISTORY_PASSWORD"
