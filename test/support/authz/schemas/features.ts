import type { SchemaCase } from './schema-case.ts'

/** What `use` switches on. */
export const FEATURES_CASES: readonly SchemaCase[] = [
  {
    rule: 'self can be switched on',
    text: 'use self\ndefinition user {}\n',
    error: undefined,
  },
  {
    rule: 'expiration can be switched on',
    text: 'use expiration\ndefinition user {}\n',
    error: undefined,
  },
  {
    rule: 'typechecking can be switched on',
    text: 'use typechecking\ndefinition user {}\n',
    error: undefined,
  },
  {
    rule: 'partial can be switched on',
    text: 'use partial\ndefinition user {}\n',
    error: undefined,
  },
  {
    rule: 'import can be switched on',
    text: 'use import\ndefinition user {}\n',
    error: undefined,
  },
  {
    rule: 'features may be switched on twice',
    text: 'use self\nuse self\ndefinition user {}\n',
    error: undefined,
  },
  {
    rule: 'features may share a line',
    text: 'use self use expiration; use typechecking definition user {}',
    error: undefined,
  },
  {
    rule: 'a feature stands on the line of its use',
    text: 'use\nself\ndefinition user {}\n',
    error: '1:4: expected a feature after "use", found the end of the line',
  },
  {
    rule: 'a feature has a name',
    text: 'use "self"',
    error: '1:5: expected a feature after "use", found "\\"self\\""',
  },
  {
    rule: 'a keyword is no feature',
    text: 'use definition',
    error:
      '1:5: expected a feature that is supported (expiration, import, partial, self, typechecking), found "definition"',
  },
  {
    rule: 'features do not follow caveats',
    text: 'caveat late(day int) {\n    day > 1\n}\nuse self',
    error: '4:1: expected "definition" or "caveat": "use" comes before them, found "use"',
  },
  {
    rule: 'features may follow partials',
    text: 'use partial\npartial shared {}\nuse self\ndefinition user {\n    permission edit = self\n}',
    error: undefined,
  },
  {
    rule: 'other files are not read',
    text: 'use import\nimport "other.zed"\ndefinition user {}\n',
    error: '2:1: expected a schema in one text: "import" is not supported, found "import"',
  },
  {
    rule: 'import needs to be switched on',
    text: 'import "other.zed"',
    error: '1:1: expected a schema in one text: "import" is not supported, found "import"',
  },
  {
    rule: 'partials need to be switched on',
    text: 'partial shared {}',
    error: '1:1: expected "use partial" at the top of the schema, found "partial"',
  },
]
