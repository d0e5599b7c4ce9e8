import { describe, expect, it } from 'vitest'
import { copyConfig } from '../../../../src/server/commands/boot-copy.ts'
import { parseConfig } from '../../../../src/server/config/config.ts'

const COPY = '/scratch/copy'

describe('the configuration of the copy that an upgrade is rehearsed on', () => {
  it.each([
    [['--data-dir', '/srv/ctl']],
    [['--data-dir', '/srv/ctl', '--backup-dir', '/srv/backups', '--backup-scratch-dir', '/srv/scratch']],
  ])('names no place that the real server writes: %j', (argv) => {
    const { backups, backupScratchDir, bootstrapTokenFile, dataDir, initialPasswordFile, storage } = copyConfig(
      parseConfig({ argv, env: {}, uid: 1000 }),
      COPY,
    )
    expect(backups).toBeUndefined()
    expect({ backupScratchDir, bootstrapTokenFile, dataDir, initialPasswordFile, storage }).toEqual({
      backupScratchDir: `${COPY}/backup-scratch`,
      bootstrapTokenFile: `${COPY}/bootstrap-token`,
      dataDir: COPY,
      initialPasswordFile: `${COPY}/initial-password`,
      storage: { kind: 'embedded', directory: COPY },
    })
  })
})
