// Makes a release: version, changelog, contract, commit and tag, then the tarball with its checksum and its bill of materials
// (CycloneDX) in `release/`. Publishing is the last step, by `--publish`, in a pipeline whose identity npm can attest
// (`npm publish --provenance`); without it the command is printed. `--dry-run` says what would happen and changes nothing. After a
// failure the same command goes on where it stopped: what is committed, tagged, written or published already stays.
//   node scripts/release.mjs 1.2.3 [--dry-run | --publish]
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { pack, run, runWell } from './lib/package-manager.mjs'
import { obstacles, progressOf, RELEASE_FILES, releasedFiles, titleOf, unreleased } from './lib/release.mjs'
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

/** The commit that a name stands for; undefined when there is none. */
async function commitOf(name) {
  const { code, stdout } = await run('git', [...GIT, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
    cwd: root,
  })
  return code === 0 ? stdout.trim() : undefined
}

async function stateOf(version) {
  const { version: former, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const [subject, status, head, tag] = await Promise.all([
    git('log', '-1', '--format=%s'),
    git('status', '--porcelain'),
    commitOf('HEAD'),
    commitOf(`refs/tags/v${version}`),
  ])
  return { version, former, repository, changelog, subject, status, head, tag }
}

/** The files as they will be; the day is that of the machine, in UTC. */
function changes({ version, former }) {
  const files = Object.fromEntries(RELEASE_FILES.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
  return releasedFiles(files, { version, former, date: new Date().toISOString().slice(0, 10) })
}

/** Commits what changes; leaves the checkout as it was where that fails. */
async function commit(state) {
  try {
    for (const [path, text] of Object.entries(changes(state))) writeFileSync(join(root, path), text)
    await runWell('npm', ['run', 'release-contract'], { cwd: root })
    await git('commit', '--all', '--quiet', '--message', titleOf(state.version))
  } catch (error) {
    // It had no uncommitted changes before.
    await git('reset', '--hard', '--quiet')
    throw error
  }
}

/** Commits and tags what an earlier run has not. */
async function commitAndTag(state) {
  const { version } = state
  const progress = progressOf(state)
  if (progress === 'tagged') return say(`v${version} was committed and tagged by an earlier run.`)
  if (progress === 'none') await commit(state)
  // What lies there was made of another commit.
  rmSync(folder, { recursive: true, force: true })
  await git('tag', '--annotate', '--message', titleOf(version), `v${version}`)
  return say(`Committed and tagged v${version}.`)
}

const sumOf = (path) => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${basename(path)}\n`

/** Writes the tarball, the bill of materials and the sums; those of an earlier run stay, since a build is not the same twice. */
async function makeFiles(version) {
  const paths = filesOf(version)
  const sums = join(folder, 'SHA256SUMS')
  if (![...paths, sums].every((path) => existsSync(path)) || readFileSync(sums, 'utf8') !== paths.map(sumOf).join('')) {
    rmSync(folder, { recursive: true, force: true })
    await pack(root, folder)
    writeFileSync(
      paths[1],
      await runWell('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], { cwd: root }),
    )
    writeFileSync(sums, paths.map(sumOf).join(''))
  }
  say(`${paths.map((path) => relative(root, path)).join(', ')} and release/SHA256SUMS are there:`)
  process.stdout.write(paths.map(sumOf).join(''))
}

/** The tarball, and its bill of materials. */
const filesOf = (version) => [join(folder, `ctl-mesh-${version}.tgz`), join(folder, `ctl-mesh-${version}.cdx.json`)]

/** Whether the registry has the version, from an earlier run. */
async function isInRegistry(version) {
  const { code, stdout, stderr } = await run('npm', ['view', `ctl-mesh@${version}`, 'version'], { cwd: root })
  if (code !== 0 && !stderr.includes('E404')) throw new Error(`npm view ctl-mesh@${version} failed: ${stderr.trim()}`)
  return stdout.trim() !== ''
}

const publishing = (version) => ['publish', `release/ctl-mesh-${version}.tgz`, '--provenance', '--access', 'public']

function announce(state) {
  const { version, former, changelog, repository } = state
  const entries = unreleased(changelog).split(/^- /m).length - 1
  const files = filesOf(version).map((path) => relative(root, path))
  if (progressOf(state) === 'none') {
    const changed = Object.keys(changes(state)).join(', ')
    say(`Would release ${version} after ${former}, with ${entries} entries of the changelog.`)
    say(`Would change ${changed} and the released contract, commit them, and tag v${version}.`)
  } else {
    say(`Would go on with ${version}, which was ${progressOf(state)} by an earlier run.`)
  }
  say(`Would write ${files.join(', ')} and release/SHA256SUMS.`)
  say(`Then: npm ${publishing(version).join(' ')}`)
  if (!repository) say('To publish, package.json has to name the repository.')
}

async function release({ version, isDry, isPublished }) {
  const state = await stateOf(version)
  const found = obstacles(isDry ? { ...state, status: '' } : state, isPublished)
  for (const sentence of found) process.stderr.write(`${sentence}\n`)
  if (found.length > 0) return 1
  if (isDry) {
    announce(state)
    return 0
  }
  if (isPublished && (await isInRegistry(version))) {
    say(`The registry has ctl-mesh ${version}: nothing is left to do.`)
    return 0
  }
  await commitAndTag(state)
  await makeFiles(version)
  if (isPublished) await runWell('npm', publishing(version), { cwd: root })
  say(
    isPublished
      ? `Published ctl-mesh ${version}.`
      : `Publish it from the pipeline: npm ${publishing(version).join(' ')}`,
  )
  return 0
}

/** Resolves with the exit code. */
async function main() {
  const asked = parse(process.argv.slice(2))
  if (asked === undefined) {
    process.stderr.write(`${USAGE}\n`)
    return 2
  }
  try {
    return await release(asked)
  } catch (error) {
    process.stderr.write(
      `${error.message}\nRun the same command again once that is mended: it goes on where it stopped.\n`,
    )
    return 1
  }
}

process.exitCode = await main()
