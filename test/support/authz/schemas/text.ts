import type { SchemaCase } from './schema-case.ts'

/** How a schema is written: blanks, comments, ends of statements. */
export const TEXT_CASES: readonly SchemaCase[] = [
  {
    rule: 'one statement may be empty',
    text: 'definition user {\n    ;\n    ;;\n}',
    error: undefined,
  },
  {
    rule: 'a semicolon may follow a definition',
    text: 'definition user {};definition doc {};',
    error: undefined,
  },
  {
    rule: 'definitions may share a line',
    text: 'definition user {} definition doc {}',
    error: undefined,
  },
  {
    rule: 'a schema does not begin with two semicolons',
    text: ';;definition user {}',
    error: '1:2: expected "use", "definition" or "caveat", found ";"',
  },
  {
    rule: 'a semicolon does not stand on a line of its own between definitions',
    text: 'definition user {}\n;\n',
    error: '2:1: expected "use", "definition" or "caveat", found ";"',
  },
  {
    rule: 'tabs and spaces are blanks',
    text: 'definition\tuser\t{ }',
    error: undefined,
  },
  {
    rule: 'a form feed is no blank',
    text: 'definition user {}\f',
    error: '1:19: expected a name or punctuation, found "\\f"',
  },
  {
    rule: 'a byte order mark is no blank',
    text: '\ufeffdefinition user {}',
    error: '1:1: expected a name or punctuation, found "\ufeff"',
  },
  {
    rule: 'a no-break space is no blank',
    text: 'definition user\u00a0{}',
    error: '1:16: expected a name or punctuation, found "\u00a0"',
  },
  {
    rule: 'annotations with @ are not of the language',
    text: '@deprecated\ndefinition user {}',
    error: '1:1: expected a name or punctuation, found "@"',
  },
  {
    rule: 'a backslash is not of the language',
    text: 'definition user { \\ }',
    error: '1:19: expected a name or punctuation, found "\\\\"',
  },
  {
    rule: 'quotes are closed',
    text: 'definition user {}\n"and so',
    error: '2:1: expected a quote to end this text',
  },
  {
    rule: 'text does not stand at the top',
    text: 'definition user {} "text"',
    error: '1:20: expected "use", "definition" or "caveat", found "\\"text\\""',
  },
  {
    rule: 'a definition is closed once',
    text: 'definition user {}}',
    error: '1:19: expected "use", "definition" or "caveat", found "}"',
  },
  {
    rule: 'a definition holds no block',
    text: 'definition user {{}}',
    error: '1:18: expected "relation", "permission" or "}", found "{"',
  },
  {
    rule: 'a definition has a block',
    text: 'definition user',
    error: '1:16: expected "{", found the end of the schema',
  },
  {
    rule: 'names are of ASCII, also those of types',
    text: 'definition группа {}',
    error: '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "группа"',
  },
  {
    rule: 'a comment may follow a statement',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user // and so\n    permission edit = owner /* or so */\n}',
    error: undefined,
  },
  {
    rule: 'a comment over lines does not end the statement',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user /* and\n    so */ | user:*\n}',
    error: undefined,
  },
  {
    rule: 'a comment to the end of the line ends the statement before it',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user // and so\n    | user:*\n}',
    error: '4:5: expected "relation", "permission" or "}", found "|"',
  },
  {
    rule: 'a relation goes on after its colon',
    text: 'definition user {}\ndefinition doc {\n    relation owner:\n    user\n}',
    error: undefined,
  },
  {
    rule: 'a relation does not go on before its colon',
    text: 'definition user {}\ndefinition doc {\n    relation owner\n    : user\n}',
    error: '3:19: expected ":", found the end of the line',
  },
  {
    rule: 'a permission does not go on before its sign',
    text: 'definition user {}\ndefinition doc {\n    permission edit\n    = nil\n}',
    error: '3:20: expected "=", found the end of the line',
  },
  {
    rule: 'a name does not go on after its keyword',
    text: 'definition user {}\ndefinition doc {\n    relation\n    owner: user\n}',
    error: '3:13: expected a relation name, found the end of the line',
  },
]
