import { describe, expect, it } from 'vitest'
import { assertTarget } from '../../../../src/cli/domain-files/prepare.ts'

const AT = { domain: 'default', chosen: undefined, url: 'http://127.0.0.1:7443' }

describe('Files of one Domain', () => {
  it('are refused for another one that nothing names, with both ways out', () => {
    expect(() => assertTarget('acme', AT)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: 'the files are of Domain acme, and the command would work in Domain default on http://127.0.0.1:7443',
        hints: [expect.stringMatching(/--domain acme, .*--domain default$/)],
      }),
    )
  })

  it.each([
    ['where --domain or the saved plan names it', 'acme', { ...AT, chosen: 'default' }],
    ['where it is their own', 'default', AT],
    ['where they do not say which is theirs', undefined, AT],
  ])('are taken %s', (_what, exported, target) => {
    expect(() => assertTarget(exported, target)).not.toThrow()
  })
})
