import { describe, expect, test } from 'vitest'
import { bindSelector, nearestDefinition, type LabelValue } from '../../../../src/shared/selectors/bind-selector.ts'
import { matches } from '../../../../src/shared/selectors/evaluate-selector.ts'
import { parseSelector } from '../../../../src/shared/selectors/parse-selector.ts'
import { DEFINITIONS } from './definitions.ts'

function selects(text: string, labels: Readonly<Record<string, LabelValue>>): boolean {
  const { bound, errors } = bindSelector(parseSelector(text), (key) => nearestDefinition(DEFINITIONS, {}, key))
  expect(errors).toEqual([])
  const byId = new Map(Object.entries(labels).map(([key, value]) => [`platform/${key}`, value]))
  return bound !== undefined && matches(bound, byId)
}

const PROD = { env: 'prod', cores: 8, legacy: true }

describe('A selector and the labels of an object', () => {
  test.each<[string, Readonly<Record<string, LabelValue>>, boolean]>([
    ['*', {}, true],
    ['*', PROD, true],
    ['env', PROD, true],
    ['env', {}, false],
    ['env', { env: '' }, true],
    ['legacy', { legacy: false }, true],
    ['cores', { cores: 0 }, true],
    ['!env', PROD, false],
    ['!env', {}, true],
    ['!cores', { cores: 0 }, false],
    ['env=prod', PROD, true],
    ['env=PROD', PROD, false],
    ['env=dev', PROD, false],
    ['env=prod', {}, false],
    ['env=""', {}, false],
    ['env!=prod', PROD, false],
    ['env!=dev', PROD, true],
    ['env!=prod', {}, true],
    ['env in (dev,prod)', PROD, true],
    ['env in (dev,test)', PROD, false],
    ['env notin (dev,prod)', PROD, false],
    ['env notin (dev,test)', PROD, true],
    ['env notin (dev,test)', {}, true],
    ['cores=8', PROD, true],
    ['cores=8', { cores: '8' }, false],
    ['cores<9', PROD, true],
    ['cores<8', PROD, false],
    ['cores>7', PROD, true],
    ['cores>8', PROD, false],
    ['cores<9', {}, false],
    ['cores>-1', {}, false],
    ['cores>9', { cores: 10 }, true],
    ['cores<0', { cores: -1 }, true],
    ['legacy=true', PROD, true],
    ['legacy=false', PROD, false],
    ['legacy=false', {}, false],
    ['legacy!=true', {}, true],
    ['env=prod,cores>4,!region', PROD, true],
    ['env=prod,cores>8,!region', PROD, false],
    ['env=prod,env=dev', PROD, false],
  ])('%s of %j: %s', (text, labels, expected) => {
    expect(selects(text, labels)).toBe(expected)
  })
})
