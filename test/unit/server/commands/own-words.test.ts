import { describe, expect, it } from 'vitest'
import { takeOwnWords } from '../../../../src/server/commands/own-words.ts'

const OWN = {
  operand: 'the file of the backup',
  valued: { '--passphrase-file': 'FILE' },
  switches: ['--force', '--with-master-key'],
}

describe('the words of a command that has those of the server, too', () => {
  it.each([
    [
      ['out', '--data-dir', '/srv', '--force', '--passphrase-file', '/p', '--with-master-key'],
      ['--data-dir', '/srv'],
    ],
    [['--data-dir=/srv', '--force', '--with-master-key', '--passphrase-file=/p', 'out'], ['--data-dir=/srv']],
  ])('are its operand, its own flags, and those of the server: %j', (argv, rest) => {
    const words = takeOwnWords(argv, OWN)
    expect([words.operand, words.valueOf('--passphrase-file'), words.rest]).toEqual(['out', '/p', rest])
    expect([words.has('--force'), words.has('--with-master-key')]).toEqual([true, true])
  })

  it('leave absent flags undefined', () => {
    const words = takeOwnWords(['out'], OWN)
    expect([words.valueOf('--passphrase-file'), words.has('--force')]).toEqual([undefined, false])
  })

  it.each([[[]], [['--force']], [['--data-dir', '/srv', '--force=yes']]])('need the operand: %j', (argv) => {
    expect(() => takeOwnWords(argv, OWN)).toThrow('Name the file of the backup')
  })

  it.each([[['out', '--passphrase-file']], [['out', '--passphrase-file=']]])('need the value of a flag: %j', (argv) => {
    expect(() => takeOwnWords(argv, OWN)).toThrow('--passphrase-file needs a value')
  })
})
