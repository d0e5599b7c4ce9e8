import { expect, test } from 'vitest'
import { valueType, type ValueType } from '../../../../../src/shared/authz/caveats/value-type.ts'

const plain = (name: string): ValueType => ({ name, of: undefined })

test.each([
  ['int', plain('int')],
  ['list<string>', { name: 'list', of: plain('string') }],
  ['map<list<any>>', { name: 'map', of: { name: 'list', of: plain('any') } }],
  ['any<string>', plain('any')],
  ['int<string,list<int>>', plain('int')],
  ['list<any<int,bool>>', { name: 'list', of: plain('any') }],
])('reads %s', (text, type) => {
  expect(valueType(text)).toEqual(type)
})

test.each([
  '',
  'text',
  'list',
  'list<int,int>',
  'list<text>',
  'any<text>',
  'any<list>',
  'list<int',
  'list<int>>',
  'any<>',
  '<int>',
])('finds no type in "%s"', (text) => {
  expect(valueType(text)).toBeUndefined()
})
