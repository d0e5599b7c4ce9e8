import { describe, expect, test } from 'vitest'
import { missingPrograms } from '../../../bench/support/mesh/missing-programs.mjs'
import { optionsOf } from '../../../bench/support/mesh/options.mjs'

describe('the options of the benchmark of the mesh', () => {
  test('are five rounds of ten seconds, and agents with 100 and 1,000 peers that are idle for 30 s', () => {
    expect(optionsOf(['mesh'])).toEqual({ rounds: 5, seconds: 10, peers: [100, 1000], idleSeconds: 30 })
  })

  test('are taken as given, and no peers leave the idle agents out', () => {
    const given = ['mesh', '--rounds=1', '--seconds=0', '--peers=', '--idle-seconds=5']
    expect(optionsOf(given)).toEqual({ rounds: 1, seconds: 0, peers: [], idleSeconds: 5 })
  })

  test.each([
    ['--round=1', '--round is none of --rounds, --seconds, --peers, --idle-seconds'],
    ['--rounds', '--rounds takes whole numbers from 0 to 40'],
    ['--rounds=41', '--rounds takes whole numbers from 0 to 40'],
    ['--seconds=1.5', '--seconds takes whole numbers from 0'],
    ['--peers=100,', '--peers takes whole numbers from 1'],
    ['--peers=100,100', '--peers are to grow'],
  ])('refuse %s', (given, message) => {
    expect(() => optionsOf(['mesh', given])).toThrow(message)
  })
})

test('programs that are missing are named with their packages', () => {
  expect(missingPrograms(() => true)).toEqual([])
  expect(missingPrograms((program) => !program.startsWith('nebula'))).toEqual([
    { program: 'nebula', package: 'nebula' },
    { program: 'nebula-cert', package: 'nebula' },
  ])
})
