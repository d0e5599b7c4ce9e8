const VERSION = /^(\d+)\.(\d+)\.(\d+)$/
const UNRELEASED = '## Unreleased'

const partsOf = (version) => (VERSION.exec(version) ?? []).slice(1).map(Number)

/** Whether a version comes after another one. Both are three numbers; one that is not never does. */
export function isNewer(version, than) {
  const [left, right] = [partsOf(version), partsOf(than)]
  const at = left.findIndex((part, index) => part !== right[index])
  return left.length === 3 && at >= 0 && left[at] > right[at]
}

/** The entries that have not been released yet, as they stand in the changelog; empty when there are none. */
export function unreleased(changelog) {
  const start = changelog.indexOf(`${UNRELEASED}\n`)
  if (start < 0) return ''
  const entries = changelog.slice(start + UNRELEASED.length)
  const end = entries.search(/^## /m)
  return (end < 0 ? entries : entries.slice(0, end)).trim()
}

function replaced(text, { from, to, path }) {
  if (!text.includes(from)) throw new Error(`${path} does not say ${JSON.stringify(from.trim())}.`)
  return text.replaceAll(from, to)
}

/**
 * What a release changes in the checkout, beside the contract.
 *
 * @param files `{ path: text }` of the paths in `RELEASE_FILES`
 * @param terms `{ version, former, date }`: the new and the former version, and the day as YYYY-MM-DD
 * @returns `{ path: text }`
 * @throws Error when a file does not name the former version where it should
 */
export function releasedFiles(files, { version, former, date }) {
  const change = (path, from, to) => [path, replaced(files[path], { from, to, path })]
  const lock = JSON.parse(files['package-lock.json'])
  const packages = { ...lock.packages, '': { ...lock.packages[''], version } }
  return Object.fromEntries([
    change('package.json', `"version": "${former}"`, `"version": "${version}"`),
    ['package-lock.json', `${JSON.stringify({ ...lock, version, packages }, null, 2)}\n`],
    change('CHANGELOG.md', `${UNRELEASED}\n`, `${UNRELEASED}\n\n## ${version} - ${date}\n`),
    change('README.md', `ctl ${former} serves `, `ctl ${version} serves `),
    change('docs/configuration.md', `"version":"${former}"`, `"version":"${version}"`),
    change('deploy/kubernetes/ctl.yaml', `/ctl:${former}\n`, `/ctl:${version}\n`),
  ])
}

/** Every file that names the version. */
export const RELEASE_FILES = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'README.md',
  'docs/configuration.md',
  'deploy/kubernetes/ctl.yaml',
]

/**
 * How far an earlier run for this version came: `tagged`, `committed`, or `none` of it.
 *
 * @param state `{ version, former, subject, tag, head }`: what package.json names, the title of the last commit, the commit of
 *   the version's tag or undefined, and the last commit
 */
export function progressOf({ version, former, subject, tag, head }) {
  if (former !== version) return 'none'
  if (tag !== undefined) return tag === head ? 'tagged' : 'none'
  return subject === titleOf(version) ? 'committed' : 'none'
}

/** The title of the commit of a release, and what its tag says. */
export const titleOf = (version) => `Release ${version}`

/**
 * Why a release cannot be made or gone on with; empty when it can.
 *
 * @param state what `progressOf` takes, and `{ changelog, repository, status }`: `status` is what git says of uncommitted files
 * @param isPublished whether it is to be published
 */
export function obstacles(state, isPublished) {
  const { status, repository } = state
  const found = [
    ...(progressOf(state) === 'none' ? obstaclesOfNew(state) : []),
    [
      status !== '',
      'The checkout has uncommitted changes: commit them first, or undo those of an interrupted release by git reset --hard.',
    ],
    [
      isPublished && !repository,
      'package.json names no repository: provenance needs it, and the registry resolves the links of README.md by it. Add it.',
    ],
  ]
  return found.flatMap(([holds, sentence]) => (holds ? [sentence] : []))
}

const obstaclesOfNew = ({ version, former, changelog, tag }) => [
  [!VERSION.test(version), `${version} is no version: write three numbers, such as 1.2.3.`],
  [
    VERSION.test(version) && !isNewer(version, former),
    `${version} is not newer than ${former}, which package.json names.`,
  ],
  [unreleased(changelog) === '', 'CHANGELOG.md has no entry under Unreleased: say what is new.'],
  [
    tag !== undefined,
    `The tag v${version} exists: choose another version, or go on with that one after git checkout v${version}.`,
  ],
]
