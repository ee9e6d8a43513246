"""The rules of 保皇: cards, sets, the hand and the table as pure functions of data.

Standard library only; time, randomness and ids come in inside the commands.

- `cards`, `plays`, `legal`, `deck`, `deal`: what the cards are and what beats what (sections 1, 2, FAIR-1)
- `rulesets`: the six rulesets and their options, as data (section 1)
- `state`, `events`, `commands`: the vocabulary
- `decide` and `phases`: command → events (sections 3 to 7 and 9)
- `evolve`: event → state; `redact`: what a viewer may see of either (TABLE-2)
- `settlement`, `levels`: points and levels (sections 5 and 8)

A newcomer finds a rule by its clause id: code that keeps `BEAT-1` names it in its docstring.
"""
