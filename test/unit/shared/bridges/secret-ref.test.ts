import { describe, expect, it } from 'vitest'
import { parseSecretRef } from '../../../../src/shared/bridges/secret-ref.ts'

const long = 'a'.repeat(63)

describe('A secret reference', () => {
  it.each([
    ['secret:acme/edge/hq-key', { domain: 'acme', project: 'edge', name: 'hq-key', version: undefined }],
    ['secret:acme/edge/hq-key:3', { domain: 'acme', project: 'edge', name: 'hq-key', version: 3 }],
    ['secret:1/2/3:999999999', { domain: '1', project: '2', name: '3', version: 999_999_999 }],
    [`secret:${long}/${long}/${long}`, { domain: long, project: long, name: long, version: undefined }],
  ])('%s is read', (text, expected) => {
    expect(parseSecretRef(text)).toEqual(expected)
  })

  it.each([
    '',
    'secret:',
    'acme/edge/hq-key',
    'Secret:acme/edge/hq-key',
    'secret:acme/hq-key',
    'secret:acme/edge/hq/key',
    'secret:/edge/hq-key',
    'secret:acme//hq-key',
    'secret:acme/edge/',
    'secret:acme/edge/hq-key:',
    'secret:acme/edge/hq-key:0',
    'secret:acme/edge/hq-key:01',
    'secret:acme/edge/hq-key:-1',
    'secret:acme/edge/hq-key:1.5',
    'secret:acme/edge/hq-key:latest',
    'secret:acme/edge/hq-key:1000000000',
    'secret:acme/edge/hq-key:1:2',
    'secret:acme/edge/HQ',
    'secret:acme/edge/hq_key',
    'secret:acme/edge/-hq',
    'secret:acme/edge/hq-',
    'secret:acme/../hq-key',
    ' secret:acme/edge/hq-key',
    'secret:acme/edge/hq-key\n',
    `secret:acme/edge/${long}a`,
  ])('%j is refused', (text) => {
    expect(parseSecretRef(text)).toBeUndefined()
  })
})
