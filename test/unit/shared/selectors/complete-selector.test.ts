import { describe, expect, test } from 'vitest'
import { completeSelector, type CompletedDefinition } from '../../../../src/shared/selectors/complete-selector.ts'
import { definition, DOMAIN } from './definitions.ts'

const DEFINITIONS: readonly CompletedDefinition[] = [
  { ...definition('platform/env'), values: ['prod', 'pre prod', 'dev'], description: 'stage of the service' },
  { ...definition('platform/cores', 'integer') },
  { ...definition('platform/legacy', 'boolean') },
  { ...definition('platform/tier'), values: ['web'] },
  { ...definition(`domain:${DOMAIN}/tier`), values: ['api'] },
]

const KEYS = ['env', 'cores', 'legacy', 'platform/tier', `domain:${DOMAIN}/tier`]
const OPERATORS = ['=', '!=', 'in (', 'notin (', ',']

const values = (text: string) => completeSelector(text, DEFINITIONS).offers.map(({ value }) => value)

describe('What may come next in a selector', () => {
  test.each<[string, readonly string[]]>([
    ['', ['*', '!', ...KEYS]],
    ['  ', ['*', '!', ...KEYS]],
    ['e', ['env']],
    ['pl', ['platform/tier']],
    ['x', []],
    ['env', ['env', 'env=', 'env!=', 'env in (', 'env notin (']],
    ['env ', OPERATORS],
    ['env n', ['notin (']],
    ['cores ', ['=', '!=', '<', '>', 'in (', 'notin (', ',']],
    ['!', KEYS],
    ['!l', ['legacy']],
    ['!legacy ', [',']],
    ['env=', ['prod', '"pre prod"', 'dev']],
    ['env=p', ['prod']],
    ['env="', ['"prod"', '"pre prod"', '"dev"']],
    ['env="pre ', ['"pre prod"']],
    ['env!=d', ['dev']],
    ['legacy=', ['true', 'false']],
    ['cores<', []],
    ['tier=', ['web', 'api']],
    ['platform/tier=', ['web']],
    ['env=prod ', [',']],
    ['env in', ['in (']],
    ['env in ', ['(']],
    ['env in (', ['prod', '"pre prod"', 'dev']],
    ['env in (prod,', ['prod', '"pre prod"', 'dev']],
    ['env in (prod ', [',', ')']],
    ['env in (prod)', [',']],
    ['env in (prod),', ['!', ...KEYS]],
    ['env=prod,le', ['legacy']],
    ['env=prod,legacy=t', ['true']],
    ['é,', []],
    ['nobody=', []],
  ])('%j', (text, expected) => {
    expect(values(text)).toEqual(expected)
  })

  test('goes on from the word that is begun, and the rest stays', () => {
    expect(completeSelector('env=prod,tier in (web, a', DEFINITIONS)).toEqual({
      kept: 'env=prod,tier in (web, ',
      offers: [{ value: 'api', describe: 'value' }],
    })
  })

  test('is described', () => {
    const offers = completeSelector('', DEFINITIONS).offers
    expect(offers.find(({ value }) => value === 'env')?.describe).toBe('stage of the service')
    expect(offers.find(({ value }) => value === 'cores')?.describe).toBe('integer of platform')
  })
})
