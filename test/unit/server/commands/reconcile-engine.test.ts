import pino from 'pino'
import { expect, it } from 'vitest'
import { reconcileEngine } from '../../../../src/server/commands/reconcile-engine.ts'
import { parseConfig } from '../../../../src/server/config/config.ts'
import { BootError } from '../../../../src/server/ports/boot-error.ts'

it('names that the backup is restored where the authorization engine cannot be compared with it', async () => {
  const away = new BootError(8, 'SpiceDB does not answer: start it.')
  const config = parseConfig({ argv: ['--data-dir', '/srv/ctl'], env: {}, uid: 1000 })
  const reconciled = reconcileEngine(config, pino({ level: 'silent' }), () => Promise.reject(away))
  await expect(reconciled).rejects.toThrow(
    new BootError(
      8,
      'The backup is restored, but the authorization engine was not compared with it: SpiceDB does not answer: start it. Then start the server and run ctl authz reconcile.',
      away,
    ),
  )
})
