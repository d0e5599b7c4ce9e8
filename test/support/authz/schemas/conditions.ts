import type { SchemaCase } from './schema-case.ts'

/** Caveats and expiration of subject types. */
export const CONDITIONS_CASES: readonly SchemaCase[] = [
  {
    rule: 'a subject may need a caveat',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care\n}',
    error: undefined,
  },
  {
    rule: 'with and without a caveat are two subject types',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user | user with care | user:* with care | doc#owner with care\n}',
    error: undefined,
  },
  {
    rule: 'a caveat is given once',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care | user with care\n}',
    error: '6:38: expected each subject type once, "user" is repeated',
  },
  {
    rule: 'a caveat may have a prefix',
    text: 'caveat ten/care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with ten/care\n}',
    error: undefined,
  },
  {
    rule: 'a caveat with a prefix is another one',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with ten/care\n}',
    error: '6:21: expected a defined caveat, found "ten/care"',
  },
  {
    rule: 'a subject has one caveat',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care with care\n}',
    error: '6:36: expected the end of the line after a relation, found "with"',
  },
  {
    rule: 'a caveat stands behind with, also on the next line',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with\n    care\n}',
    error: '6:30: expected a caveat name after "with", found the end of the line',
  },
  {
    rule: 'a subject may expire',
    text: 'use expiration\ndefinition user {}\ndefinition doc {\n    relation owner: user with expiration\n}',
    error: undefined,
  },
  {
    rule: 'a subject may need a caveat and expire',
    text: 'use expiration\ncaveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care and expiration\n}',
    error: undefined,
  },
  {
    rule: 'the four conditions are four subject types',
    text: 'use expiration\ncaveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user | user with care | user with expiration | user with care and expiration\n}',
    error: undefined,
  },
  {
    rule: 'everyone and sets may expire',
    text: 'use expiration\ndefinition user {}\ndefinition doc {\n    relation owner: user:* with expiration | doc#owner with expiration\n}',
    error: undefined,
  },
  {
    rule: 'expiration is given once',
    text: 'use expiration\ndefinition user {}\ndefinition doc {\n    relation owner: user with expiration | user#... with expiration\n}',
    error: '4:44: expected each subject type once, "user" is repeated',
  },
  {
    rule: 'expiration needs to be switched on',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user with expiration\n}',
    error: '3:21: expected a defined caveat, found "expiration"',
  },
  {
    rule: 'expiration behind a caveat needs to be switched on',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care and expiration\n}',
    error: '6:36: expected the end of the line after a relation, found "and"',
  },
  {
    rule: 'expiration stands behind the caveat',
    text: 'use expiration\ncaveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with expiration and care\n}',
    error: '7:42: expected "with caveat and expiration": the caveat comes first, found "and"',
  },
  {
    rule: 'two caveats are not taken',
    text: 'use expiration\ncaveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care and care\n}',
    error: '7:40: expected the end of the line after a relation, found "care"',
  },
  {
    rule: 'an "and" behind a caveat may stand for nothing',
    text: 'use expiration\ncaveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care and\n}',
    error: undefined,
  },
  {
    rule: 'an "and" for nothing does not end the list of subject types',
    text: 'use expiration\ncaveat care(day int) {\n    day > 1\n}\ndefinition user {}\ndefinition doc {\n    relation owner: user with care and | user\n}',
    error: undefined,
  },
]
