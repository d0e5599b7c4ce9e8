import type { artifacts } from '../../../shared/contract/artifacts.ts'
import { problem } from '../../../shared/problems.ts'
import { isSemanticVersion } from '../../../shared/semantic-version.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { byPrecedenceDescending } from '../../sql/keyset.ts'
import { toAnswer, toListed } from './release.ts'
import { findFirstBundle, findRelease, listReleases } from './store.ts'

export interface ArtifactsDeps {
  readonly datastore: Datastore
}

/** Serves the releases of the node agent. Nothing is changed over HTTP (S1 Release registry). */
export function createArtifacts({ datastore }: ArtifactsDeps): Handlers<typeof artifacts> {
  const db = () => datastore.pool('interactive')
  return {
    async ListPlexdArtifacts(ctx) {
      const order = { positionOf: byPrecedenceDescending.positionOf, toAnswer: toListed }
      const { items, next_cursor: next } = await listPage(ctx, (range) => listReleases(db(), range), order)
      return { items, ...(next !== null && { next_cursor: next }) }
    },

    async GetPlexdArtifact(_ctx, { version }) {
      const release = isSemanticVersion(version) ? await findRelease(db(), version) : undefined
      if (release === undefined) throw problem('release_not_found')
      return toAnswer(release)
    },

    async GetPlexdArtifactSignature(_ctx, { version }) {
      const bundle = isSemanticVersion(version) ? await findFirstBundle(db(), version) : undefined
      if (bundle === undefined) throw problem('release_not_found')
      return bundle
    },
  }
}
