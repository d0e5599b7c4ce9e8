import { describe, expect, it } from 'vitest'
import { takeFlags } from '../../../../src/server/commands/backup-flags.ts'

describe('the words of ctl admin backup create', () => {
  it('are the file, its own flags, and those of the server', () => {
    expect(takeFlags(['out', '--data-dir', '/srv', '--force', '--passphrase-file', '/p', '--with-master-key'])).toEqual(
      { file: 'out', force: true, withMasterKey: true, passphraseFile: '/p', rest: ['--data-dir', '/srv'] },
    )
    expect(takeFlags(['--data-dir=/srv', '--passphrase-file=/p', 'out'])).toEqual({
      file: 'out',
      force: false,
      withMasterKey: false,
      passphraseFile: '/p',
      rest: ['--data-dir=/srv'],
    })
  })

  it.each([[[]], [['--force']], [['--data-dir', '/srv', '--force=yes']]])('need a file: %j', (words) => {
    expect(() => takeFlags(words)).toThrow('Name the file of the backup')
  })

  it.each([[['out', '--passphrase-file']], [['out', '--passphrase-file=']]])(
    'need the value of a flag: %j',
    (words) => {
      expect(() => takeFlags(words)).toThrow('--passphrase-file needs a value')
    },
  )
})
