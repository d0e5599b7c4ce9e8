import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { KiB, uuidField } from './fields.ts'
import {
  DomainSelectorPreviewRequest,
  LabelSelectorPreviewRequest,
  LabelSelectorPreviewResponse,
  ObjectSearchRequest,
  ObjectSearchResponse,
} from './label-schemas.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'

const common = { credentials: OPERATOR, notProvisioned: 'labels_not_provisioned' } as const

const scoped = {
  ...common,
  sentences: { invalid_scope: 'The scope is platform, or domain or project with the scope_id of one.' },
} as const

export const objectSearch = defineSurface(
  'object-search',
  {
    summary: 'Selectors, and the objects that they match',
    nouns: { objects: { section: 'Fleet', position: 5, files: runtime('Searches, which store nothing') } },
  },
  {
    PreviewLabelSelector: {
      ...scoped,
      method: 'POST',
      path: '/v1/labels/selectors/preview',
      summary: 'Check a selector, and count what it matches anywhere',
      description:
        'A selector that cannot be parsed is no failure: the answer has its errors, with their places in bytes.',
      body: LabelSelectorPreviewRequest,
      bodyBytesMax: 16 * KiB,
      idempotent: true,
      access: 'read',
      gate: check('read', 'platform:main'),
      audit: { relation: 'label_selector.preview', when: 'all' },
      responses: { 200: LabelSelectorPreviewResponse },
      problems: [],
    },
    PreviewDomainSelector: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/labels/selectors/preview',
      summary: 'Check a selector, and count what it matches in a Domain',
      description: 'Counts and shows only objects that you may read.',
      params: z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') }),
      body: DomainSelectorPreviewRequest,
      bodyBytesMax: 16 * KiB,
      idempotent: true,
      access: 'read',
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'label_selector.preview', when: 'all' },
      responses: { 200: LabelSelectorPreviewResponse },
      problems: ['domain_not_found', 'project_not_found'],
    },
    SearchObjectsByLabel: {
      ...scoped,
      method: 'POST',
      path: '/v1/objects/search',
      summary: 'Find the objects that a selector matches and on which you hold a relation',
      description:
        'Objects are ordered by kind and id. A scope that does not exist, or in which you may see nothing, has no objects. Those on which you do not hold the relation are left out after a page was read, so that a page may be short while another one follows.',
      body: ObjectSearchRequest,
      bodyBytesMax: 64 * KiB,
      idempotent: true,
      access: 'read',
      gate: {
        ...open('S1 Label registry: each match is filtered by the requested relation'),
        rows: { relation: '{row.relation}', object: '{row.kind}:{row.id}' },
      },
      audit: { none: 'S1 Label registry: SearchObjectsByLabel' },
      paging: {
        limit: 'rejected',
        cursor: 'operation',
        parents: ['selector', 'relation', 'scope', 'scope_id', 'kind'],
      },
      responses: { 200: ObjectSearchResponse },
      problems: ['invalid_selector'],
    },
  },
)
