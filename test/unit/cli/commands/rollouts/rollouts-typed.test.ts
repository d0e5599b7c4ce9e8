import { describe, expect, it } from 'vitest'
import { CliError } from '../../../../../src/cli/errors/cli-error.ts'
import { wavesFrom, waveText } from '../../../../../src/cli/commands/rollouts/wave-text.ts'
import { windowFrom, windowText } from '../../../../../src/cli/commands/rollouts/window-text.ts'

/** The sentence and the hints of the usage error that a call throws. */
function mistakeOf(call: () => unknown): readonly string[] {
  try {
    call()
  } catch (error) {
    if (error instanceof CliError && error.exitCode === 2) return [error.message, ...error.hints]
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('Waves', () => {
  it('are shares of all nodes, or groups', () => {
    expect(wavesFrom(['5%', ' 25 % ', 'group:blue', '100%'], '--waves')).toEqual([
      { percent: 5 },
      { percent: 25 },
      { update_group: 'blue' },
      { percent: 100 },
    ])
  })

  it('of impossible sizes are left to the server', () => {
    expect(wavesFrom(['0%', '999%'], '--waves')).toEqual([{ percent: 0 }, { percent: 999 }])
  })

  it.each([
    ['5', 'Did you mean 5%?'],
    ['blue', 'Did you mean group:blue?'],
  ])('"%s" is refused with what was meant', (text, meant) => {
    expect(mistakeOf(() => wavesFrom([text], '--waves')).slice(0, 2)).toEqual([
      `--waves cannot be read: "${text}" is no wave`,
      meant,
    ])
  })

  it.each(['', '%', '-5%', '5.5%', '1000%', 'group:', '5% 25%', 'a b', '🚀'])('"%s" is refused', (text) => {
    expect(mistakeOf(() => wavesFrom([text], '--waves'))[0]).toBe(`--waves cannot be read: "${text}" is no wave`)
  })

  it('are at least one', () => {
    expect(mistakeOf(() => wavesFrom([], '--waves'))[0]).toBe('--waves names no wave')
  })

  it.each(['5%', '100%', 'group:blue', 'group:a b'])('"%s" is printed as it is typed', (text) => {
    expect(wavesFrom([text], '--waves').map(waveText)).toEqual([text])
  })
})

describe('A maintenance window', () => {
  it.each([
    ['Mon-Fri 09:00-16:00 Europe/Berlin', [1, 2, 3, 4, 5], '09:00', '16:00', 'Europe/Berlin'],
    ['mon,WED,Friday 9:00-16:00 UTC', [1, 3, 5], '09:00', '16:00', 'UTC'],
    ['Sat,Sun 22:00-04:00 America/New_York', [6, 7], '22:00', '04:00', 'America/New_York'],
    ['Fri-Mon 08:00-24:00 UTC', [1, 5, 6, 7], '08:00', '00:00', 'UTC'],
    ['Sun-Sun 01:00 - 02:00 UTC', [7], '01:00', '02:00', 'UTC'],
    ['daily 01:00-02:00 UTC', [1, 2, 3, 4, 5, 6, 7], '01:00', '02:00', 'UTC'],
    ['01:00-02:00 UTC', [1, 2, 3, 4, 5, 6, 7], '01:00', '02:00', 'UTC'],
  ])('"%s" is read', (text, days, from, to, time_zone) => {
    expect(windowFrom(text, '--window')).toEqual({ time_zone, days, from, to })
  })

  it('is none by that word', () => {
    expect(windowFrom('none', '--window')).toBeNull()
  })

  it.each([
    ['', '--window cannot be read: ""'],
    ['nights', '--window cannot be read: "nights"'],
    ['Mon - Fri 09:00-16:00 UTC', '--window cannot be read: "Mon - Fri 09:00-16:00 UTC"'],
    ['Mon-Fri 09:00 UTC', '--window cannot be read: "Mon-Fri 09:00 UTC"'],
    ['Mon-Fri 09:00-16:00 UTC UTC', '--window cannot be read: "Mon-Fri 09:00-16:00 UTC UTC"'],
    ['Mon-Fri 09:00-16:00', '--window needs a time zone'],
    ['Mon-Fri 25:00-16:00 UTC', '--window: "25:00" is no time of day such as 09:00'],
    ['Mon-Fri 09:60-16:00 UTC', '--window: "09:60" is no time of day such as 09:00'],
    ['00:00-24:00 UTC', '--window begins and ends at 00:00'],
    ['9:00-09:00 UTC', '--window begins and ends at 09:00'],
    ['24:00-16:00 UTC', '--window: "24:00" is no time of day such as 09:00'],
    ['Mo-Fri 09:00-16:00 UTC', '--window: "Mo" is no weekday'],
    ['Mon-Wed-Fri 09:00-16:00 UTC', '--window: "Mon-Wed-Fri" is no weekday'],
    ['Mon,,Fri 09:00-16:00 UTC', '--window: "" is no weekday'],
    ['Monty 09:00-16:00 UTC', '--window: "Monty" is no weekday'],
    ['09:00-16:00 Mars/Olympus', '--window: there is no time zone "Mars/Olympus"'],
  ])('"%s" is refused', (text, message) => {
    expect(mistakeOf(() => windowFrom(text, '--window'))[0]).toBe(message)
  })

  it.each([
    [[1, 2, 3, 4, 5], 'Mon-Fri'],
    [[5, 1], 'Mon,Fri'],
    [[1, 2], 'Mon,Tue'],
    [[1, 2, 3, 5, 6, 7], 'Mon-Wed,Fri-Sun'],
    [[7, 6, 5, 4, 3, 2, 1], 'daily'],
    [[3], 'Wed'],
  ])('of days %j is printed as it is typed', (days, text) => {
    const window = { time_zone: 'Europe/Berlin', days, from: '09:00', to: '16:00' }
    expect(windowText(window)).toBe(`${text} 09:00-16:00 Europe/Berlin`)
    expect(windowFrom(windowText(window), '--window')).toEqual({ ...window, days: days.toSorted() })
  })
})
