import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createIndexer } from '../../../src/server/slices/artifacts/indexer.ts'
import { createRejudging } from '../../../src/server/slices/artifacts/rejudging.ts'
import { openSource } from '../../../src/server/slices/artifacts/release-source.ts'
import { OutgoingFetchError } from '../../../src/server/ports/outgoing-fetch.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { addRelease, checksumOfRelease } from '../../support/releases/add-release.ts'
import { makeIndexFolder, type IndexFolder } from '../../support/releases/index-folder.ts'
import { standInVerifier } from '../../support/releases/stand-in-verifier.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'

const NO_FETCH = {
  releasesFetch: async () => {
    throw new OutgoingFetchError('unreachable', 'nothing is fetched here')
  },
  releasesAllowHosts: [],
}

describe.each(STORES)('The index of releases on the $name store', (store) => {
  describe.skipIf(store.missing)('in a folder', () => {
    let tenancy: Tenancy
    let folder: IndexFolder
    let logged: string[]
    let pass: () => Promise<boolean>
    beforeAll(async () => {
      tenancy = await startTenancy(store)
    })
    afterAll(() => tenancy.stop())
    beforeEach(() => {
      folder = makeIndexFolder()
      logged = []
      const warn = ({ fault }: { readonly fault: string }, message: string) => void logged.push(`${message}: ${fault}`)
      const source = openSource({ kind: 'folder', directory: folder.path }, NO_FETCH)
      const log = { warn, info: () => undefined } as never
      const indexer = createIndexer({ ...tenancy, source, verifier: standInVerifier(), log })
      pass = () => indexer.run(unfenced(tenancy))
    })
    afterEach(async () => {
      folder.dispose()
      await tenancy.db.deleteFrom('releases').execute()
      await tenancy.db.deleteFrom('release_indexes').execute()
    })

    const stored = async () =>
      (
        await tenancy.db
          .selectFrom('releases')
          .select(['version', 'support_status', 'verdict', 'verdict_reason'])
          .orderBy('precedence')
          .execute()
      ).map(({ version, support_status, verdict, verdict_reason }) =>
        [version, support_status, verdict, ...(verdict_reason === null ? [] : [verdict_reason])].join(' '),
      )
    /** Everything that passes may have changed. */
    const everything = async () => ({
      releases: await tenancy.db.selectFrom('releases').selectAll().orderBy('version').execute(),
      architectures: await tenancy.db.selectFrom('release_architectures').selectAll().orderBy('version').execute(),
      indexes: await tenancy.db.selectFrom('release_indexes').selectAll().execute(),
    })

    it('adds its releases, and audits each', async () => {
      folder.publish(7, [{ version: '1.5.0' }, { version: '1.4.0', support_status: 'deprecated' }])
      expect(await pass()).toBe(false)
      expect(await stored()).toEqual(['1.4.0 deprecated verified', '1.5.0 supported verified'])
      expect(logged).toEqual([])
      const audited = await tenancy.db
        .selectFrom('audit')
        .select(['subject', 'relation', 'object', 'outcome'])
        .where('relation', '=', 'plexd_artifact.import')
        .orderBy('object')
        .execute()
      expect(audited.slice(-2)).toEqual([
        {
          subject: 'system:release-indexer',
          relation: 'plexd_artifact.import',
          object: 'plexd_artifact:1.4.0',
          outcome: 'granted',
        },
        {
          subject: 'system:release-indexer',
          relation: 'plexd_artifact.import',
          object: 'plexd_artifact:1.5.0',
          outcome: 'granted',
        },
      ])
    })

    it('changes nothing while it is the same', async () => {
      folder.publish(7, [{ version: '1.5.0' }])
      await pass()
      const before = await everything()
      tenancy.clock.nowMs += 60_000
      await pass()
      expect(await everything()).toEqual(before)
    })

    it('is taken in several passes where it is long', async () => {
      const versions = Array.from({ length: 23 }, (_, at) => `1.0.${at}`)
      folder.publish(
        1,
        versions.map((version) => ({ version })),
      )
      expect([await pass(), await pass(), await pass()]).toEqual([true, true, false])
      expect((await stored()).length).toBe(23)
    })

    it('keeps a release that vanishes from it, and withdraws one for good', async () => {
      folder.publish(1, [{ version: '1.0.0' }, { version: '2.0.0' }])
      await pass()
      folder.publish(2, [{ version: '2.0.0', support_status: 'withdrawn' }])
      await pass()
      folder.publish(3, [{ version: '2.0.0', support_status: 'supported' }])
      await pass()
      expect(await stored()).toEqual(['1.0.0 supported verified', '2.0.0 withdrawn verified'])
    })

    it('leaves the support status alone where it does not say it', async () => {
      await addRelease(tenancy.db, '1.0.0', { supportStatus: 'deprecated' })
      folder.publish(1, [{ version: '1.0.0' }])
      await pass()
      expect(await stored()).toEqual(['1.0.0 deprecated verified'])
    })

    it.each([
      ['an older serial', 4, 'the serial of index.json has fallen from 5 to 4'],
      ['another content under the same serial', 5, 'index.json has changed, but its serial is still 5'],
    ])('is refused with %s: logged once, nothing changed', async (_what, serial, fault) => {
      folder.publish(5, [{ version: '1.0.0', support_status: 'withdrawn' }])
      await pass()
      const before = await everything()
      folder.publish(serial, [{ version: '1.0.0', support_status: 'supported' }, { version: '6.6.6' }])
      expect([await pass(), await pass()]).toEqual([false, false])
      expect(await everything()).toEqual(before)
      expect(logged).toEqual([`the index of releases cannot be taken from the source: ${fault}`])
    })

    it.each<[string, (folder: IndexFolder) => void, string]>([
      ['is missing', () => undefined, 'index.json does not exist'],
      [
        'has no signature',
        (at) => {
          at.publish(1, [])
          at.remove('index.json.sigstore.json')
        },
        'index.json.sigstore.json does not exist',
      ],
      [
        'was changed after it was signed',
        (at) => {
          at.publish(1, [])
          at.write('index.json', '{"serial":1,"releases":[] }')
        },
        'the signature of index.json does not count (The attestation is about something else.)',
      ],
      ['is not JSON', (at) => at.publishText('{"serial": 1'), 'index.json is not JSON'],
      [
        'is null',
        (at) => at.publishText('null'),
        'index.json is no index of releases (the document: Invalid input: expected object, received null)',
      ],
      ['is nested deeply', (at) => at.publishText('['.repeat(200_000)), 'index.json is not JSON'],
      [
        'is longer than 4 MiB',
        (at) => at.publishText(' '.repeat(10 * 1024 * 1024)),
        'index.json is longer than 4194304 bytes',
      ],
      [
        'names a version twice',
        (at) => at.publish(1, [{ version: '1.0.0' }, { version: '1.0.0' }]),
        'index.json is no index of releases (releases: must name each version once)',
      ],
      [
        'names what is no version',
        (at) => at.publish(1, [{ version: '1.0' }]),
        'index.json is no index of releases (releases.0.version: must be a semantic version such as 1.5.0)',
      ],
      [
        'has more than a thousand releases',
        (at) =>
          at.publish(
            1,
            Array.from({ length: 1_001 }, (_, n) => ({ version: `1.0.${n}` })),
          ),
        'index.json is no index of releases (releases: Too big: expected array to have <=1000 items)',
      ],
      ...['../secret', '/etc/passwd', 'https://evil.example/x', 'a/../../b', 'a//b', '.hidden', 'a\\b', ''].map(
        (bundle): [string, (at: IndexFolder) => void, string] => [
          `points to ${JSON.stringify(bundle)}`,
          (at) =>
            at.publishText(
              JSON.stringify({
                serial: 1,
                releases: [
                  { version: '1.0.0', architectures: [{ architecture: 'x86_64', checksum: 'a'.repeat(64), bundle }] },
                ],
              }),
            ),
          'index.json is no index of releases (releases.0.architectures.0.bundle: must be a path below the index)',
        ],
      ),
    ])('is refused where it %s, and nothing is stored', async (_what, arrange, fault) => {
      arrange(folder)
      expect(await pass()).toBe(false)
      expect(logged).toEqual([`the index of releases cannot be taken from the source: ${fault}`])
      expect(await everything()).toEqual({ releases: [], architectures: [], indexes: [] })
    })

    it('adds a release whose attestation is missing or of something else as unverified, naming the architecture', async () => {
      const checksum = checksumOfRelease('1.0.0', 'x86_64')
      folder.write('other', 'rubbish')
      folder.publishText(
        JSON.stringify({
          serial: 1,
          releases: [
            { version: '1.0.0', architectures: [{ architecture: 'x86_64', checksum, bundle: 'nowhere' }] },
            { version: '2.0.0', architectures: [{ architecture: 'x86_64', checksum, bundle: 'other' }] },
          ],
        }),
      )
      await pass()
      expect(await stored()).toEqual([
        '1.0.0 supported unverified x86_64: There is no attestation.',
        '2.0.0 supported unverified x86_64: The attestation is about something else.',
      ])
    })

    it('takes the other releases where one cannot be read, and tries that one again', async () => {
      folder.publish(1, [{ version: '1.0.0' }, { version: '2.0.0' }])
      folder.write('1.0.0/x86_64.sigstore.json', Buffer.alloc(10 * 1024 * 1024))
      await pass()
      await pass()
      expect(await stored()).toEqual(['2.0.0 supported verified'])
      expect(logged).toEqual([
        'release 1.0.0 cannot be taken from the source: 1.0.0/x86_64.sigstore.json is longer than 1048576 bytes',
      ])
      folder.publish(1, [{ version: '1.0.0' }, { version: '2.0.0' }])
      await pass()
      expect(await stored()).toEqual(['1.0.0 supported verified', '2.0.0 supported verified'])
    })

    it('does not change the binary of a known version, nor take a verdict away', async () => {
      await addRelease(tenancy.db, '1.0.0')
      await addRelease(tenancy.db, '2.0.0')
      const before = await everything()
      const other = { architecture: 'x86_64', checksum: checksumOfRelease('6.6.6', 'x86_64'), bundle: 'evil' }
      const further = { architecture: 'riscv64', checksum: checksumOfRelease('2.0.0', 'riscv64'), bundle: 'nowhere' }
      folder.publishText(
        JSON.stringify({
          serial: 1,
          releases: [
            { version: '1.0.0', architectures: [other] },
            { version: '2.0.0', architectures: [further] },
          ],
        }),
      )
      await pass()
      const { releases, architectures } = await everything()
      expect({ releases, architectures }).toEqual({ releases: before.releases, architectures: before.architectures })
      expect(logged).toEqual([
        'release 1.0.0 cannot be taken from the source: Release 1.0.0 is known with another checksum for x86_64; a binary that changed needs a version of its own.',
        'release 2.0.0 cannot be taken from the source: Release 2.0.0 is verified and would not be any more, so it stays as it is (riscv64: There is no attestation.).',
      ])
    })

    it('leads to new verdicts where the signers are others, each audited', async () => {
      await addRelease(tenancy.db, '1.0.0')
      await addRelease(tenancy.db, '2.0.0', { judgedWith: 'former', unverified: 'x86_64: by somebody else' })
      await addRelease(tenancy.db, '3.0.0', { judgedWith: 'former', isBare: true })
      const judging = createRejudging({ ...tenancy, verifier: standInVerifier(), log: { warn() {} } })
      expect(await judging.run(unfenced(tenancy))).toBe(false)
      expect(await stored()).toEqual([
        '1.0.0 supported verified',
        '2.0.0 supported verified',
        '3.0.0 supported unverified aarch64: There is no attestation.',
      ])
      const audited = await tenancy.db
        .selectFrom('audit')
        .select(['subject', 'object'])
        .where('relation', '=', 'plexd_artifact.judge')
        .orderBy('object')
        .execute()
      expect(audited).toEqual([
        { subject: 'system:release-verifier', object: 'plexd_artifact:2.0.0' },
        { subject: 'system:release-verifier', object: 'plexd_artifact:3.0.0' },
      ])
    })
  })
})
