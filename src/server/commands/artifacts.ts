import { resolve } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'
import { carryOut } from './carry-out.ts'
import { takeOwnWords, type OwnWords } from './own-words.ts'
import { readReleaseFolder } from './release-folder.ts'

const WHERE = `Beside a running server on the embedded datastore the server does it; else the command works on the datastore itself,
with the settings of ctl serve. On PostgreSQL servers may run.
`

const IMPORT_HELP = `Adds a release of the node agent, or what is new about a known one.

Usage: ctl admin artifacts import DIR [flags of ctl serve]

DIR holds release.json, {"version": "1.5.0", "architectures": [{"architecture": "x86_64", "checksum": "<SHA-256>"}]}, and for
each architecture its Sigstore bundle, x86_64.sigstore.json. A binary beside them, x86_64, must have that checksum. The release
is a target of upgrades if each bundle is by one of the --release-signers. The binary of a known version never changes.

${WHERE}`

/** How the support status of a release is changed. */
const STATUS_HELP = {
  support: `Makes a deprecated release a supported one.

Usage: ctl admin artifacts support VERSION [flags of ctl serve]

${WHERE}`,
  deprecate: `Marks a release as deprecated: it may still be installed.

Usage: ctl admin artifacts deprecate VERSION [flags of ctl serve]

${WHERE}`,
  withdraw: `Withdraws a release for good: nothing is upgraded to it, and rollouts to it halt.

Usage: ctl admin artifacts withdraw VERSION [flags of ctl serve]

${WHERE}`,
} as const

/** Runs `ctl admin artifacts import`: prints in one sentence what it did. Resolves with the exit code. */
export function runArtifactsImport(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin artifacts import', help: IMPORT_HELP }, call, async () => {
    const { operand, rest } = takeOwnWords(
      call.argv,
      named('the folder of the release: ctl admin artifacts import DIR'),
    )
    const config = configOf(rest, call.env)
    if (config.storage.kind !== 'embedded' && config.releaseSigners.length === 0) throw noSigners()
    const asked = { command: 'artifacts.import', ...(await readReleaseFolder(resolve(operand))) }
    call.stderr.write(`${await carryOut(config, asked, call.stderr)}\n`)
  })
}

/** Runs `ctl admin artifacts support`, `deprecate` or `withdraw` likewise. */
export function runArtifactsStatus(call: AdminCall, verb: keyof typeof STATUS_HELP): Promise<number> {
  return runAdmin({ name: `admin artifacts ${verb}`, help: STATUS_HELP[verb] }, call, async () => {
    const { operand: version, rest } = takeOwnWords(
      call.argv,
      named(`the version: ctl admin artifacts ${verb} VERSION`),
    )
    const asked = { command: `artifacts.${verb}`, input: { version }, attachments: [] }
    call.stderr.write(`${await carryOut(configOf(rest, call.env), asked, call.stderr)}\n`)
  })
}

function noSigners(): ConfigError {
  return new ConfigError(1, 'Without --release-signers the server does not know whose releases to trust.')
}

/** A command with an operand and no flag of its own. */
const named = (operand: string): OwnWords => ({ operand, valued: {}, switches: [] })
