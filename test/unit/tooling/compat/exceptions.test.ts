import { expect, test } from 'vitest'
import { applyExceptions, readExceptions } from '../../../../scripts/lib/compat/exceptions.mjs'

const entry = {
  id: 'operation-removed',
  method: 'GET',
  path: '/v1/old',
  detail: 'GetOld is gone',
  reason: 'nobody ever called it',
}
const finding = { id: 'operation-removed', level: 'ERR', method: 'GET', path: '/v1/old', detail: 'GetOld is gone' }

const NO_METHOD = 'entry 1: method must be an HTTP method in upper case'

test.each([
  ['{', [expect.stringMatching(/^it is not JSON: /)]],
  ['{}', ['it is not a list']],
  ['[]', []],
  [[entry], []],
  [[null], ['entry 1: it is not an object']],
  [[{ ...entry, method: 'get' }], [NO_METHOD]],
  [[{ ...entry, method: 'FETCH' }], [NO_METHOD]],
  [[{ ...entry, path: '/v2/old' }], ['entry 1: path must start with /v1/']],
  [[{ ...entry, path: '/v1' }], ['entry 1: path must start with /v1/']],
  [[{ ...entry, id: 'constructor' }], ['entry 1: id must name a check of scripts/lib/compat/checks.mjs']],
  [[{ ...entry, detail: ' ' }], ["entry 1: detail must be the finding's own text"]],
  [[{ ...entry, reason: '' }], ['entry 1: reason must say why']],
  [[{ ...entry, reason: undefined }], ['entry 1: reason must say why']],
  [[{ ...entry, until: '2027' }], ['entry 1: until is no member of an exception']],
  [[entry, { ...entry, reason: 'again' }], ['entry 2 is there twice']],
])('%j is read with what is wrong in it', (text, errors) => {
  expect(readExceptions(typeof text === 'string' ? text : JSON.stringify(text)).errors).toEqual(errors)
})

test('an entry excepts the breaking finding that has its very words', () => {
  expect(applyExceptions([finding], { entries: [entry], before: [] })).toEqual({
    broken: [],
    excepted: [{ ...finding, reason: 'nobody ever called it' }],
    unmatched: [],
    removable: [],
  })
})

test.each([
  ['check', { id: 'operation-renamed' }],
  ['method', { method: 'PUT' }],
  ['path', { path: '/v1/older' }],
  ['words', { detail: 'GetOlder is gone' }],
])('an entry with another %s excepts nothing', (_, other) => {
  const verdict = applyExceptions([finding], { entries: [{ ...entry, ...other }], before: [] })
  expect(verdict).toMatchObject({ broken: [finding], excepted: [], unmatched: [{ ...entry, ...other }] })
})

test('what breaks nothing needs no exception', () => {
  const verdict = applyExceptions([{ ...finding, level: 'WARN' }], { entries: [entry], before: [] })
  expect(verdict).toMatchObject({ broken: [], unmatched: [entry] })
})

test('an idle entry that was there before can go; its reason may have been reworded', () => {
  const verdict = applyExceptions([], { entries: [entry], before: [{ ...entry, reason: 'else' }] })
  expect(verdict).toEqual({ broken: [], excepted: [], unmatched: [], removable: [entry] })
})
