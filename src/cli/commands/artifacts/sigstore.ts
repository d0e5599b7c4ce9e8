import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { operationOf } from '../../session/noun-lists.ts'

const OUTPUT: FlagSpec = { kind: 'text', value: 'FILE', describe: 'Write to a file; stdout when absent' }

/** Writes the attestation as the server has it, so that other programs can verify it. */
export function sigstore(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetPlexdArtifactSignature')
  return {
    ...derivedCommand(operation, manifest),
    flags: { output: OUTPUT },
    uses: ['connection'],
    examples: [
      'ctl artifacts sigstore 1.5.0 > agent.sigstore.json',
      'ctl artifacts sigstore 1.5.0 --output agent.sigstore.json',
    ],
    async run(session, { args: [version = ''], flags: { output: file } }) {
      const { value } = await (await session.caller()).call(operation, { version })
      if (!(value instanceof Uint8Array)) throw new Error('an attestation is no bytes')
      if (typeof file === 'string') await writeFile(resolve(session.io.cwd, file), value)
      else session.io.stdout.write(textOf(value))
      return EXIT.ok
    },
  }
}

/** Bundles are JSON; a server may have something else, which must not be changed on its way. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new CliError('the attestation is no text', {
      exitCode: EXIT.failed,
      code: 'not_text',
      hints: ['Write it with --output FILE'],
      cause: error,
    })
  }
}
