-- Rulings that are taken back: a fine returns, and a hand that was void counts after all.

alter table postings
    drop constraint a_hand_is_scored_once,
    drop constraint postings_are_hands_or_fines,
    add constraint postings_are_hands_or_fines check (
        type in ('HandScored', 'FinePosted', 'FineReturned', 'PostingSkipped')
    );

-- `void` is in the data of a void hand, and left out of that of one which counts.
create unique index a_hand_counts_once on postings (table_id, hand)
    where hand is not null and not data ? 'void';
create unique index a_hand_is_void_once on postings (table_id, hand)
    where hand is not null and data ? 'void';

comment on column postings.hand is
    'The hand that was scored. One that was void, which was taken back, is scored twice: the later posting counts.';
