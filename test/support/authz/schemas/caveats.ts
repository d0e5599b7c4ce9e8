import type { SchemaCase } from './schema-case.ts'

/** Declarations of caveats. */
export const CAVEATS_CASES: readonly SchemaCase[] = [
  {
    rule: 'a caveat has any name',
    text: 'caveat Care_1(day int) {\n    day > 1\n}',
    error: undefined,
  },
  {
    rule: 'a caveat has a name of any length',
    text: 'caveat a(day int) {\n    day > 1\n}',
    error: undefined,
  },
  {
    rule: 'a field has any name',
    text: 'caveat care(A int, b_ int) {\n    A == b_\n}',
    error: undefined,
  },
  {
    rule: 'a field is not named like a type',
    text: 'caveat care(int int) {\n    int > 1\n}',
    error: '1:13: expected a field name that is no type, found "int"',
  },
  {
    rule: 'a field is not named like a word of CEL',
    text: 'caveat care(in int) {\n    in > 1\n}',
    error: '2:5: expected an expression in CEL: reserved identifier',
  },
  {
    rule: 'a field has a name of ASCII',
    text: 'caveat care(täg int) {\n    täg > 1\n}',
    error: '2:6: expected an expression in CEL, found "ä"',
  },
  {
    rule: 'a caveat may have many fields',
    text: 'caveat care(day0 int, day1 int, day2 int, day3 int, day4 int, day5 int, day6 int, day7 int, day8 int, day9 int, day10 int, day11 int, day12 int, day13 int, day14 int, day15 int, day16 int, day17 int, day18 int, day19 int, day20 int, day21 int, day22 int, day23 int) {\n    day0 > 1 && day1 > 1 && day2 > 1 && day3 > 1 && day4 > 1 && day5 > 1 && day6 > 1 && day7 > 1 && day8 > 1 && day9 > 1 && day10 > 1 && day11 > 1 && day12 > 1 && day13 > 1 && day14 > 1 && day15 > 1 && day16 > 1 && day17 > 1 && day18 > 1 && day19 > 1 && day20 > 1 && day21 > 1 && day22 > 1 && day23 > 1\n}',
    error: undefined,
  },
  {
    rule: 'fields may begin on the next line',
    text: 'caveat care(\n    day int) {\n    day > 1\n}',
    error: undefined,
  },
  {
    rule: 'fields do not end with a line',
    text: 'caveat care(day int\n) {\n    day > 1\n}',
    error: '1:20: expected ")", found the end of the line',
  },
  {
    rule: 'fields do not end with a comma',
    text: 'caveat care(day int,) {\n    day > 1\n}',
    error: '1:21: expected a field name, found ")"',
  },
  {
    rule: 'fields are parted by commas',
    text: 'caveat care(day int hour int) {\n    day > 1\n}',
    error: '1:21: expected ")", found "hour"',
  },
  {
    rule: 'a field has a type',
    text: 'caveat care(day) {\n    day > 1\n}',
    error: '1:16: expected a type, found ")"',
  },
  {
    rule: 'the brace of a caveat stands on the line of its fields',
    text: 'caveat care(day int)\n{\n    day > 1\n}',
    error: '1:21: expected "{", found the end of the line',
  },
  {
    rule: 'a caveat has fields in parentheses',
    text: 'caveat care {\n    true\n}',
    error: '1:13: expected "(", found "{"',
  },
  {
    rule: 'every field is used',
    text: 'caveat care(day int, hour int) {\n    day > 1\n}',
    error: '1:22: expected the expression to use "hour"',
  },
  {
    rule: 'a field that is used as a key only is not used',
    text: 'caveat care(day int, hour int) {\n    {day: 1}.size() == hour\n}',
    error: '1:13: expected the expression to use "day"',
  },
  {
    rule: 'every plain type is taken',
    text: 'caveat care(a any, b bool, c string, d int, e uint, f double, g bytes, h duration, i timestamp, j ipaddress) {\n    [a == a, b, c == c, d == d, e == e, f == f, g == g, h == h, i == i, j == j].all(x, x)\n}',
    error: undefined,
  },
  {
    rule: 'types have blanks',
    text: 'caveat care(day list < int >) {\n    day.size() > 1\n}',
    error: undefined,
  },
  {
    rule: 'maps have one type',
    text: 'caveat care(day map<string, int>) {\n    day.size() > 1\n}',
    error: '1:13: expected the type of a field, such as "string", found "map<string,int>"',
  },
  {
    rule: 'types are closed',
    text: 'caveat care(day list<int) {\n    day.size() > 1\n}',
    error: '1:25: expected ">", found ")"',
  },
  {
    rule: 'types are lower case',
    text: 'caveat care(day List<int>) {\n    day.size() > 1\n}',
    error: '1:13: expected the type of a field, such as "string", found "List<int>"',
  },
  {
    rule: 'lists are of a type',
    text: 'caveat care(day list<>) {\n    day.size() > 1\n}',
    error: '1:22: expected a type, found ">"',
  },
  {
    rule: 'types within a plain type mean nothing',
    text: 'caveat care(day int<string, list<any>>) {\n    day > 1\n}',
    error: undefined,
  },
  {
    rule: 'an expression ends without semicolon',
    text: 'caveat care(day int) {\n    day > 1;\n}',
    error: '2:12: expected an expression in CEL, found ";"',
  },
  {
    rule: 'an expression may be on the line of its caveat',
    text: 'caveat care(day int) { day > 1 } definition user {}',
    error: undefined,
  },
  {
    rule: 'an expression may have comments',
    text: 'caveat care(day int) {\n    // day }\n    day > 1 // {\n}',
    error: undefined,
  },
  {
    rule: 'an expression has no comments in stars',
    text: 'caveat care(day int) {\n    day > 1 /* so */\n}',
    error: '2:13: expected an expression in CEL, found "/"',
  },
  {
    rule: 'braces in an expression are balanced',
    text: 'caveat care(day int) {\n    {"a": {"b": day}}.a.b > 1\n}',
    error: undefined,
  },
  {
    rule: 'braces in text are not braces',
    text: 'caveat care(day string) {\n    day == "}" || day == \'{\' || day == """}\n"""\n}',
    error: undefined,
  },
  {
    rule: 'text may have escapes',
    text: 'caveat care(day string) {\n    day == "a\\n\\u00e9"\n}',
    error: undefined,
  },
  {
    rule: 'text has no escaped quote of its own kind',
    text: 'caveat care(day string) {\n    day == "\\""\n}',
    error: '2:15: expected a quote to end this text',
  },
  {
    rule: 'text may be of any script',
    text: 'caveat care(day string) {\n    day == "é😀"\n}',
    error: undefined,
  },
  {
    rule: 'text does not go over lines',
    text: 'caveat care(day string) {\n    day == "a\nb"\n}',
    error: '2:12: expected a quote to end this text',
  },
  {
    rule: 'an expression has no backslash',
    text: 'caveat care(day int) {\n    day > \\1\n}',
    error: '2:11: expected a name or punctuation, found "\\\\"',
  },
  {
    rule: 'an expression has no backquote',
    text: 'caveat care(day int) {\n    `day` > 1\n}',
    error: '2:5: expected a name or punctuation, found "`"',
  },
]
