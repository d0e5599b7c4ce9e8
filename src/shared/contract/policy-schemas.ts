import { z } from 'zod'
import { POLICY_TESTS_MAX } from '../policies/policy-document.ts'
import { CIDRS_MAX, DIRECTIONS, PORT_MAX, PORT_RANGES_MAX, RULE_PROTOCOLS, RULES_MAX } from '../policies/rule-types.ts'
import { withRule, type NamedMembers, type RuleFault } from './body-rules.ts'
import {
  CreatedAt,
  CreatedBy,
  DisplayName,
  InDomain,
  OfNode,
  OwnId,
  ShownName,
  ShownSlug,
  Slug,
  UpdatedAt,
  Uuid,
  uuidField,
} from './fields.ts'
import { SelectorErrorField } from './label-schemas.ts'

const problem = 'invalid_policy'
const Selector = z
  .string()
  .meta({ problem, description: 'Selector of nodes, such as env=prod,tier in (web,api), or *' })
const Cidrs = z.array(z.string().max(64)).max(CIDRS_MAX)
const Protocol = z.enum(['tcp', 'udp', 'icmp'])
const Port = z.int().min(1).max(PORT_MAX)

const PolicyRule = z
  .strictObject({
    direction: z.enum(DIRECTIONS).describe('ingress: towards the matched nodes; egress: away from them'),
    peers: Selector.optional().describe('The remote nodes; * is every node of the Domain'),
    except_peers: Selector.optional().describe('Remote nodes that the rule does not accept'),
    cidrs: Cidrs.optional().describe('Remote addresses'),
    except_cidrs: Cidrs.optional().describe('Remote addresses that the rule does not accept'),
    protocol: z.enum(RULE_PROTOCOLS).describe('Protocol of the packets; `any` for all'),
    ports: z
      .array(z.string().max(11))
      .max(PORT_RANGES_MAX)
      .optional()
      .describe('Destination ports of tcp or udp, such as 22 or 8000-8100; absent: all'),
  })
  .meta({ id: 'PolicyRule', description: 'Packets that are let through.' })

const PolicyTest = z
  .strictObject({
    from: Selector,
    to: Selector,
    protocol: Protocol.describe('Protocol of the packets'),
    port: Port.optional().describe('Of tcp or udp; absent: some port'),
    expect: z.enum(['allowed', 'denied']).describe('What must hold for every pair of nodes'),
  })
  .meta({ id: 'PolicyTest', description: 'What must hold between nodes whatever the policies are.' })

const document = {
  selector: Selector,
  isolates: z
    .array(z.enum(DIRECTIONS))
    .max(2)
    .optional()
    .describe('Directions in which only rules let packets pass; default: those of the rules'),
  rules: z
    .array(PolicyRule)
    .max(RULES_MAX)
    .meta({ problem })
    .describe('What is let through: packets that one of the rules accepts'),
  tests: z
    .array(PolicyTest)
    .max(POLICY_TESTS_MAX)
    .optional()
    .meta({ problem })
    .describe('What must hold after every change, else the change is refused'),
}

export const PolicyCreateRequest = z
  .strictObject({ slug: Slug, display_name: DisplayName.optional(), ...document })
  .meta({ id: 'PolicyCreateRequest', description: 'A new policy.', problem })

/** Members that are present replace those of the policy. */
export const PolicyPatchRequest = z
  .strictObject({
    display_name: DisplayName.optional(),
    selector: Selector.optional(),
    isolates: document.isolates,
    rules: document.rules.optional(),
    tests: document.tests,
  })
  .meta({
    id: 'PolicyPatchRequest',
    description: 'Members of a policy to change; those that are present replace the stored ones.',
    problem,
  })

export const PolicyRollbackRequest = z
  .strictObject({ revision_id: uuidField('invalid_revision_id', 'A revision of the policy') })
  .meta({ id: 'PolicyRollbackRequest', description: 'The revision to go back to.' })

const VacuousTest = z.object({
  policy_id: Uuid.describe('The policy of the test'),
  test: z.int().describe('Index of the test in its policy'),
  selector: z.string().describe('The selector that matches no node'),
})

export const Policy = z
  .object({
    id: OwnId,
    domain_id: InDomain,
    slug: ShownSlug,
    display_name: ShownName,
    selector: z.string().describe('In canonical form'),
    isolates: z.array(z.enum(DIRECTIONS)).describe('Directions in which only rules let packets pass'),
    rules: z.array(PolicyRule).describe('What is let through: packets that one of the rules accepts'),
    tests: z.array(PolicyTest).describe('What must hold after every change'),
    revision_id: Uuid.describe('The revision in force'),
    revision: z.int().describe('1, 2, 3 … within the policy'),
    fingerprint: z.string().describe('SHA-256 of the compiled rules, padded base64'),
    matched_count: z.int().describe('Nodes that the selector matches'),
    vacuous_tests: z
      .array(VacuousTest)
      .optional()
      .describe('After a write: tests of the Domain whose selector matches no node'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Policy', description: 'Which packets nodes let through, with the revision in force.' })

export const PolicyRevision = z
  .object({
    revision_id: Uuid.describe('The revision'),
    revision: z.int().describe('1, 2, 3 … within the policy'),
    display_name: ShownName,
    selector: z.string().describe('Selector of the nodes, in canonical form'),
    isolates: z.array(z.enum(DIRECTIONS)).describe('Directions in which only rules let packets pass'),
    rules: z.array(PolicyRule).describe('What is let through: packets that one of the rules accepts'),
    tests: z.array(PolicyTest).describe('What must hold after every change'),
    fingerprint: z.string().describe('SHA-256 of the compiled rules, padded base64'),
    created_by: CreatedBy,
    created_at: CreatedAt,
  })
  .meta({ id: 'PolicyRevision', description: 'A policy as it was at one time.' })

const PREVIEWED = {
  display_name: DisplayName.optional(),
  ...document,
  selector: Selector.optional(),
  rules: document.rules.optional(),
}

/** One object and no union of two: a fault then names its member. */
const PolicyPreviewEntry = withRule(
  z.strictObject({
    slug: Slug,
    delete: z.literal(true).optional().describe('Deletes the policy; the other members but slug are absent then'),
    ...PREVIEWED,
  }),
  previewFault,
).meta({ description: 'A policy, with selector and rules; or with delete, the slug of one' })

function previewFault(entry: NamedMembers): RuleFault | undefined {
  if (entry['delete'] === undefined) {
    const members = ['selector', 'rules'].filter((member) => entry[member] === undefined)
    return faultOf(members, 'must be given unless delete is')
  }
  const members = Object.keys(PREVIEWED).filter((member) => entry[member] !== undefined)
  return faultOf(members, 'must be absent where delete is given')
}

function faultOf(members: readonly string[], detail: string): RuleFault | undefined {
  return members.length === 0 ? undefined : { code: problem, members, detail }
}

/** The policies that a change would leave behind: an entry creates one, replaces that of its slug, or deletes it. */
export const PolicyPreviewRequest = z
  .strictObject({ policies: z.array(PolicyPreviewEntry).min(1).max(32).describe('Policies to try together, 1 to 32') })
  .meta({
    id: 'PolicyPreviewRequest',
    description: 'Policies to try together: each creates one, replaces that of its slug, or deletes it.',
    problem,
  })

const Pair = z.object({
  from_node_id: Uuid.describe('The sending node'),
  from: z.string().describe('Name of the sending node'),
  to_node_id: Uuid.describe('The receiving node'),
  to: z.string().describe('Name of the receiving node'),
})
const Pairs = z.object({
  count: z.int().describe('Ordered pairs of nodes; one may be both gained and lost'),
  sample: z.array(Pair).describe('The first 100'),
})

const Side = z.object({
  isolated: z.boolean().describe('Whether only rules let packets pass there'),
  allowed: z.boolean().describe('Whether the packet passes there'),
  policy_id: Uuid.optional().describe('The policy whose rule decides; absent where none does'),
  policy: z.string().optional().describe('Slug of that policy'),
  rule: z.int().optional().describe('Index in the rules of the policy'),
})

const TestFailure = z.object({
  policy_id: Uuid.nullable().describe('Null for a policy that does not exist yet'),
  policy: z.string().describe('Slug of the policy of the test'),
  test: z.int().describe('Index of the test in its policy'),
  from_node_id: Uuid.describe('The sending node'),
  from: z.string().describe('Name of the sending node'),
  to_node_id: Uuid.describe('The receiving node'),
  to: z.string().describe('Name of the receiving node'),
  expect: z.enum(['allowed', 'denied']).describe('What the test expects'),
  egress: Side.optional().describe('What decides at the sending node'),
  ingress: Side.optional().describe('What decides at the receiving node'),
})

export const PolicyPreviewResponse = z
  .object({
    policies: z
      .array(
        z.object({
          slug: ShownSlug,
          matched_count: z.int().describe('Number of nodes that its selector matches'),
          sample: z
            .array(z.object({ node_id: OfNode, name: z.string().describe('Name of the node') }))
            .describe('The first of these nodes'),
          fingerprint: z
            .string()
            .nullable()
            .describe('SHA-256 of the compiled rules, padded base64; null for a deleted policy'),
        }),
      )
      .describe('The previewed policies, as the request names them'),
    gained: Pairs.describe('Ordered pairs of nodes between which some flow passes afterwards that did not before'),
    lost: Pairs.describe('Ordered pairs of nodes between which some flow passed before that does not afterwards'),
    failures: z.array(TestFailure).describe('Tests that would fail'),
    vacuous: z
      .array(
        z.object({
          policy: z.string().describe('Slug of the policy of the test'),
          test: z.int().describe('Index of the test in its policy'),
          selector: z.string().describe('The selector that matches no node'),
        }),
      )
      .describe('Tests whose selector matches no node'),
    selector_errors: z
      .array(
        z.object({
          pointer: z.string().describe('Place in the request (RFC 6901)'),
          errors: z.array(SelectorErrorField).describe('Faults of that selector'),
        }),
      )
      .optional()
      .describe('Selectors of the request that are malformed'),
  })
  .meta({ id: 'PolicyPreviewResponse', description: 'What the tried policies would change.' })

export const PolicyGraph = z
  .object({
    groups: z
      .array(
        z.object({
          group: z.int().describe('Number of the group, as edges name it'),
          policies: z.array(z.string()).describe('Slugs of the policies that match its nodes'),
          node_count: z.int().describe('Number of its nodes'),
          sample: z
            .array(z.object({ node_id: OfNode, name: z.string().describe('Name of the node') }))
            .describe('The first 20 of its nodes'),
        }),
      )
      .describe('Nodes that policies treat alike, the largest groups first'),
    edges: z
      .array(
        z.object({
          from: z.int().describe('Group of the senders'),
          to: z.int().describe('Group of the receivers'),
          flows: z.array(z.string()).describe('any, or icmp, tcp 22, udp 53,8000-8100'),
        }),
      )
      .describe('Which groups may send to which'),
    omitted_groups: z.int().describe('Groups beyond the first 64'),
  })
  .meta({ id: 'PolicyGraph', description: 'Which groups of nodes may send to which.' })

export const ReachabilityVerdict = z
  .object({
    from: Uuid.describe('The sending node'),
    to: Uuid.describe('The receiving node'),
    protocol: z.string().nullable().describe('The asked protocol; null where any was asked'),
    port: z.int().nullable().describe('The asked port; null where any was asked'),
    allowed: z.boolean().describe('Whether packets pass, at both nodes'),
    egress: Side.describe('What the sending node lets out, and by which rule'),
    ingress: Side.describe('What the receiving node lets in, and by which rule'),
  })
  .meta({ id: 'ReachabilityVerdict', description: 'Whether packets of one node reach another, and why.' })
