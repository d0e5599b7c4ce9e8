import type { SchemaCase } from './schema-case.ts'

/** Expressions of caveats, as far as their types tell. */
export const EXPRESSIONS_CASES: readonly SchemaCase[] = [
  {
    rule: 'an expression is of CEL',
    text: 'caveat care(day int) {\n    day >\n}',
    error: '2:9: expected an expression in CEL, found ">"',
  },
  {
    rule: 'an expression results in a bool',
    text: 'caveat care(day int) {\n    day + 1\n}',
    error: '2:5: expected an expression that results in bool, found int',
  },
  {
    rule: 'an expression that may result in anything is none',
    text: 'caveat care(day any) {\n    day\n}',
    error: '2:5: expected an expression that results in bool, found dyn',
  },
  {
    rule: 'a bool is an expression',
    text: 'caveat care(day bool) {\n    day\n}',
    error: undefined,
  },
  {
    rule: 'names in an expression are fields',
    text: 'caveat care(day int) {\n    day > hour\n}',
    error: '2:11: expected a field of the caveat, found "hour"',
  },
  {
    rule: 'functions in an expression are known',
    text: 'caveat care(day int) {\n    shout(day)\n}',
    error: '2:5: expected a function of caveats, found "shout"',
  },
  {
    rule: 'methods in an expression are known',
    text: 'caveat care(day int) {\n    day.shout()\n}',
    error: '2:8: expected a function of caveats, found "shout"',
  },
  {
    rule: 'whole numbers are not compared with others',
    text: 'caveat care(day int) {\n    day > 1.5\n}',
    error: '2:9: expected operands that ">" takes, found int, double',
  },
  {
    rule: 'whole numbers are not compared with those without sign',
    text: 'caveat care(day int) {\n    day > 1u\n}',
    error: '2:9: expected operands that ">" takes, found int, uint',
  },
  {
    rule: 'fields without sign are compared as whole numbers',
    text: 'caveat care(day uint) {\n    day > 1\n}',
    error: undefined,
  },
  {
    rule: 'doubles are compared with doubles',
    text: 'caveat care(day double) {\n    day > 1.5\n}',
    error: undefined,
  },
  {
    rule: 'doubles are not compared with whole numbers',
    text: 'caveat care(day double) {\n    day == 1\n}',
    error: '2:9: expected operands that "==" takes, found double, int',
  },
  {
    rule: 'anything is compared with everything',
    text: 'caveat care(day any) {\n    day > 1 || day > 1.5 || day == "one"\n}',
    error: undefined,
  },
  {
    rule: 'whole numbers have 64 bits',
    text: 'caveat care(day int) {\n    day > 9223372036854775808\n}',
    error: '2:11: expected a number of 64 bits, found 9223372036854775808',
  },
  {
    rule: 'text is not added to numbers',
    text: 'caveat care(day int) {\n    day + "1" == "11"\n}',
    error: '2:9: expected operands that "+" takes, found int, string',
  },
  {
    rule: 'conditions are bools',
    text: 'caveat care(day int) {\n    day && true\n}',
    error: '2:5: expected operands that "&&" takes, found int, bool',
  },
  {
    rule: 'both sides of a choice are of one type',
    text: 'caveat care(day int) {\n    (day > 1 ? 1 : "one") == 1\n}',
    error: '2:6: expected operands that "?:" takes, found bool, int, string',
  },
  {
    rule: 'a choice may have a side of anything',
    text: 'caveat care(day bool) {\n    (day ? dyn(1) : "one") == 1\n}',
    error: undefined,
  },
  {
    rule: 'lists hold anything',
    text: 'caveat care(day int) {\n    day in [1, "one", true]\n}',
    error: undefined,
  },
  {
    rule: 'lists of one type are searched for that type',
    text: 'caveat care(day int) {\n    day in ["one", "two"]\n}',
    error: '2:9: expected operands that "in" takes, found int, list(string)',
  },
  {
    rule: 'in searches lists and maps',
    text: 'caveat care(day int, lists list<int>) {\n    day in [1] || day in {1: true} || day in lists\n}',
    error: undefined,
  },
  {
    rule: 'in searches nothing else',
    text: 'caveat care(day int) {\n    day in "days"\n}',
    error: '2:9: expected operands that "in" takes, found int, string',
  },
  {
    rule: 'members of maps are read',
    text: 'caveat care(day map<int>) {\n    day.first == 1 && day["second"] == 2\n}',
    error: undefined,
  },
  {
    rule: 'members of maps are of the type of the map',
    text: 'caveat care(day map<int>) {\n    day.first == "one"\n}',
    error: '2:15: expected operands that "==" takes, found int, string',
  },
  {
    rule: 'members of anything are anything',
    text: 'caveat care(day any) {\n    day.first.second > 1\n}',
    error: undefined,
  },
  {
    rule: 'numbers have no members',
    text: 'caveat care(day int) {\n    day.first > 1\n}',
    error: '2:8: expected a map before ".first", found int',
  },
  {
    rule: 'has() asks for a member',
    text: 'caveat care(day map<int>) {\n    has(day.first)\n}',
    error: undefined,
  },
  {
    rule: 'has() asks for nothing else',
    text: 'caveat care(day map<int>) {\n    has(day)\n}',
    error: '2:5: expected a function of caveats, found "has"',
  },
  {
    rule: 'elements of lists are read',
    text: 'caveat care(days list<int>) {\n    days[0] > 1\n}',
    error: undefined,
  },
  {
    rule: 'elements of lists are read by number',
    text: 'caveat care(days list<int>) {\n    days["first"] > 1\n}',
    error: '2:9: expected operands that "[]" takes, found list(int), string',
  },
  {
    rule: 'all, exists, exists_one, filter and map run over lists',
    text: 'caveat care(days list<int>) {\n    days.all(d, d > 1) || days.exists(d, d > 1) || days.exists_one(d, d > 1) || days.filter(d, d > 1).size() > 1 || days.map(d, d * 2)[0] > 1 || days.map(d, d > 1, d * 2)[0] > 1\n}',
    error: undefined,
  },
  {
    rule: 'macros run over the keys of maps',
    text: 'caveat care(days map<int>) {\n    days.all(d, d.startsWith("a"))\n}',
    error: undefined,
  },
  {
    rule: 'macros run over nothing else',
    text: 'caveat care(day int) {\n    day.all(d, d > 1)\n}',
    error: '2:8: expected a list or a map before the macro, found int',
  },
  {
    rule: 'macros have a name first',
    text: 'caveat care(days list<int>) {\n    days.all(1, true)\n}',
    error: '2:9: expected a function of caveats, found "all"',
  },
  {
    rule: 'the condition of a macro is a bool',
    text: 'caveat care(days list<int>) {\n    days.all(d, d)\n}',
    error: '2:9: expected operands that "&&" takes, found bool, int',
  },
  {
    rule: "a macro's name hides the field",
    text: 'caveat care(day list<int>) {\n    day.all(day, day == 1)\n}',
    error: undefined,
  },
  {
    rule: 'names of macros end with them',
    text: 'caveat care(days list<int>) {\n    days.all(d, d > 1) && d > 1\n}',
    error: '2:27: expected a field of the caveat, found "d"',
  },
  {
    rule: 'timestamps are compared and read',
    text: 'caveat care(day timestamp) {\n    day > timestamp("2024-01-01T00:00:00Z") && day.getHours("Europe/Berlin") > 1 && day.getDayOfWeek() > 1\n}',
    error: undefined,
  },
  {
    rule: 'timestamps and durations add up',
    text: 'caveat care(day timestamp, span duration) {\n    day + span > day && day - day == span\n}',
    error: undefined,
  },
  {
    rule: 'timestamps do not add up',
    text: 'caveat care(day timestamp) {\n    day + day > day\n}',
    error: '2:9: expected operands that "+" takes, found timestamp, timestamp',
  },
  {
    rule: 'durations are read',
    text: 'caveat care(span duration) {\n    span.getHours() > 1 && span > duration("1h")\n}',
    error: undefined,
  },
  {
    rule: 'durations have no days',
    text: 'caveat care(span duration) {\n    span.getDayOfWeek() > 1\n}',
    error: '2:9: expected arguments that getDayOfWeek() takes, found (duration)',
  },
  {
    rule: 'addresses are looked up in networks',
    text: 'caveat care(ip ipaddress) {\n    ip.in_cidr("10.0.0.0/8")\n}',
    error: undefined,
  },
  {
    rule: 'text is not looked up in networks',
    text: 'caveat care(ip string) {\n    ip.in_cidr("10.0.0.0/8")\n}',
    error: '2:7: expected arguments that in_cidr() takes, found (string, string)',
  },
  {
    rule: 'addresses are compared with addresses',
    text: 'caveat care(ip ipaddress, ip2 ipaddress) {\n    ip == ip2\n}',
    error: undefined,
  },
  {
    rule: 'addresses are not compared with text',
    text: 'caveat care(ip ipaddress) {\n    ip == "10.0.0.1"\n}',
    error: '2:8: expected operands that "==" takes, found ipaddress, string',
  },
  {
    rule: 'maps are parts of maps',
    text: 'caveat care(part map<any>, whole map<any>) {\n    part.isSubtreeOf(whole)\n}',
    error: undefined,
  },
  {
    rule: 'text is searched',
    text: 'caveat care(word string) {\n    word.contains("a") && word.startsWith("a") && word.endsWith("a") && word.matches("^a") && matches(word, "a$") && size(word) == word.size()\n}',
    error: undefined,
  },
  {
    rule: 'text has no other methods',
    text: 'caveat care(word string) {\n    word.lowerAscii() == "a"\n}',
    error: '2:9: expected a function of caveats, found "lowerAscii"',
  },
  {
    rule: 'types are converted',
    text: 'caveat care(day int) {\n    int("1") == day && string(day) == "1" && double(day) == 1.0 && uint(day) == 1u && bytes("a") == b"a" && bool("true") && dyn(day) == 1\n}',
    error: undefined,
  },
  {
    rule: 'types are values',
    text: 'caveat care(day int) {\n    type(day) == int && type(day) != string && type(type(day)) == type\n}',
    error: undefined,
  },
  {
    rule: 'null is compared with what may be null',
    text: 'caveat care(day timestamp, span duration) {\n    day == null && span == null\n}',
    error: undefined,
  },
  {
    rule: 'null is not compared with numbers',
    text: 'caveat care(day int) {\n    day == null\n}',
    error: '2:9: expected operands that "==" takes, found int, null_type',
  },
  {
    rule: 'bytes are compared',
    text: 'caveat care(data bytes) {\n    data == b"abc" && size(data) == 3\n}',
    error: undefined,
  },
  {
    rule: 'messages are not made',
    text: 'caveat care(day int) {\n    google.protobuf.Duration{seconds: day} == duration("1s")\n}',
    error: '2:5: expected a map: messages such as "google.protobuf.Duration" are not supported',
    exclusion: 'SpiceDB has the well-known messages of protobuf',
  },
  {
    rule: 'members that may be missing are not read with ?',
    text: 'caveat care(day map<int>) {\n    day.?first.orValue(1) == 1\n}',
    error: '2:8: expected an expression in CEL, found "."',
    exclusion: 'SpiceDB has optional values, which the evaluator lacks',
  },
  {
    rule: 'existsOne is no macro',
    text: 'caveat care(days list<int>) {\n    days.existsOne(d, d > 1)\n}',
    error: '2:9: expected a function of caveats, found "existsOne"',
  },
  {
    rule: 'numbers of two types are ordered behind a macro',
    text: 'caveat care(days list<int>) {\n    days.all(d, d > 1.5) && 1u < 2\n}',
    error: undefined,
  },
  {
    rule: 'numbers of two types are not equated behind a macro',
    text: 'caveat care(days list<int>) {\n    days.all(d, d == 1.5)\n}',
    error: '2:19: expected operands that "==" takes, found int, double',
  },
  {
    rule: 'in stands apart from what it searches',
    text: 'caveat care(day list<string>) {\n    "x" inday\n}',
    error: '2:9: expected a blank after "in"',
  },
  {
    rule: 'parentheses without arguments may have blanks',
    text: 'caveat care(days list<int>) {\n    days.size( \n ) > 1\n}',
    error: undefined,
  },
  {
    rule: 'text has the escapes of CEL only',
    text: 'caveat care(day string) {\n    day == "\\q"\n}',
    error: '2:13: expected an escape of CEL after "\\"',
  },
  {
    rule: 'bytes have no escapes of characters',
    text: 'caveat care(data bytes) {\n    data == b"\\u00e9"\n}',
    error: '2:13: expected bytes without "\\u"',
  },
  {
    rule: 'optional values are not made',
    text: 'caveat care(day int) {\n    optional.of(day) == optional.of(1)\n}',
    error: '2:13: expected a function of caveats, found "of"',
    exclusion: 'SpiceDB has optional values, which the evaluator lacks',
  },
  {
    rule: 'enums are not read',
    text: 'caveat care(day int) {\n    day == google.protobuf.NullValue.NULL_VALUE\n}',
    error: '2:12: expected a field of the caveat, found "google"',
    exclusion: 'SpiceDB has the well-known enums of protobuf',
  },
  {
    rule: 'signs may be parted by blanks',
    text: 'caveat care(day int) {\n    - - day > 1\n}',
    error: undefined,
  },
]
