// Makes a release: version, changelog, contract, commit and tag, then the tarball with its checksum and its bill of materials
// (CycloneDX) in `release/`. Publishing is the last step, by `--publish`, in a pipeline whose identity npm can attest
// (`npm publish --provenance`); without it the command is printed. `--dry-run` says what would happen and changes nothing.
//   node scripts/release.mjs 1.2.3 [--dry-run | --publish]
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { pack, run, runWell } from './lib/package-manager.mjs'
import { obstacles, RELEASE_FILES, releasedFiles, unreleased } from './lib/release.mjs'
import { root } from './lib/root.mjs'

const USAGE = 'Usage: node scripts/release.mjs VERSION [--dry-run | --publish]'
const folder = join(root, 'release')
const say = (line) => process.stdout.write(`${line}\n`)
/** The checkout may belong to another user than the one who runs this, as in a container. */
const GIT = ['-c', 'safe.directory=*']
const git = async (...args) => (await runWell('git', [...GIT, ...args], { cwd: root })).trim()

function parse(argv) {
  const flags = new Set(argv.filter((argument) => argument.startsWith('-')))
  const [version, ...rest] = argv.filter((argument) => !argument.startsWith('-'))
  const unknown = [...flags].filter((flag) => flag !== '--dry-run' && flag !== '--publish')
  if (version === undefined || rest.length > 0 || unknown.length > 0 || flags.size > 1) return undefined
  return { version, isDry: flags.has('--dry-run'), isPublished: flags.has('--publish') }
}

async function stateOf(version) {
  const { version: former, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const tag = [...GIT, 'rev-parse', '--verify', '--quiet', `refs/tags/v${version}`]
  const { code } = await run('git', tag, { cwd: root })
  return { version, former, repository, changelog, status: await git('status', '--porcelain'), hasTag: code === 0 }
}

/** The files as they will be; the day is that of the machine, in UTC. */
function changes({ version, former }) {
  const files = Object.fromEntries(RELEASE_FILES.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
  return releasedFiles(files, { version, former, date: new Date().toISOString().slice(0, 10) })
}

async function commit({ version, former }) {
  for (const [path, text] of Object.entries(changes({ version, former }))) writeFileSync(join(root, path), text)
  await runWell('npm', ['run', 'release-contract'], { cwd: root })
  await git('commit', '--all', '--quiet', '--message', `Release ${version}`)
  await git('tag', '--annotate', '--message', `Release ${version}`, `v${version}`)
  say(`Committed and tagged v${version}.`)
}

/** Resolves with the path of the tarball. */
async function makeFiles(version) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const tarball = await pack(root, folder)
  const sbom = await runWell('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], { cwd: root })
  const bom = join(folder, `ctl-mesh-${version}.cdx.json`)
  writeFileSync(bom, sbom)
  const sums = [tarball, bom].map(
    (path) => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${basename(path)}\n`,
  )
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  say(`Wrote ${[tarball, bom].map((path) => relative(root, path)).join(', ')} and release/SHA256SUMS:`)
  process.stdout.write(sums.join(''))
  return tarball
}

async function release({ version, isDry, isPublished }) {
  const state = await stateOf(version)
  const found = obstacles(isDry ? { ...state, status: '' } : state, isPublished)
  for (const sentence of found) process.stderr.write(`${sentence}\n`)
  if (found.length > 0) return 1
  const publish = ['publish', `release/ctl-mesh-${version}.tgz`, '--provenance', '--access', 'public']
  if (isDry) {
    say(
      `Would release ${version} after ${state.former}, with ${unreleased(state.changelog).split(/^- /m).length - 1} entries of the changelog.`,
    )
    say(
      `Would change ${Object.keys(changes(state)).join(', ')} and the released contract, commit them, and tag v${version}.`,
    )
    say(`Would write release/ctl-mesh-${version}.tgz, release/ctl-mesh-${version}.cdx.json and release/SHA256SUMS.`)
    say(`Then: npm ${publish.join(' ')}`)
    if (!state.repository) say('To publish, package.json has to name the repository.')
    return 0
  }
  await commit(state)
  await makeFiles(version)
  if (isPublished) await runWell('npm', publish, { cwd: root })
  say(isPublished ? `Published ctl-mesh ${version}.` : `Publish it from the pipeline: npm ${publish.join(' ')}`)
  return 0
}

const asked = parse(process.argv.slice(2))
if (asked === undefined) process.stderr.write(`${USAGE}\n`)
process.exitCode = asked === undefined ? 2 : await release(asked)
