import { z } from 'zod'
import { POLICY_TESTS_MAX } from '../policies/policy-document.ts'
import { CIDRS_MAX, DIRECTIONS, PORT_MAX, PORT_RANGES_MAX, RULE_PROTOCOLS, RULES_MAX } from '../policies/rule-types.ts'
import { withRule, type NamedMembers, type RuleFault } from './body-rules.ts'
import { DisplayName, Instant, Slug, uuidField, Uuid } from './fields.ts'
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
    protocol: z.enum(RULE_PROTOCOLS),
    ports: z
      .array(z.string().max(11))
      .max(PORT_RANGES_MAX)
      .optional()
      .describe('Destination ports of tcp or udp, such as 22 or 8000-8100; absent: all'),
  })
  .meta({ id: 'PolicyRule' })

const PolicyTest = z
  .strictObject({
    from: Selector,
    to: Selector,
    protocol: Protocol,
    port: Port.optional().describe('Of tcp or udp; absent: some port'),
    expect: z.enum(['allowed', 'denied']).describe('What must hold for every pair of nodes'),
  })
  .meta({ id: 'PolicyTest' })

const document = {
  selector: Selector,
  isolates: z
    .array(z.enum(DIRECTIONS))
    .max(2)
    .optional()
    .describe('Directions in which only rules let packets pass; default: those of the rules'),
  rules: z.array(PolicyRule).max(RULES_MAX).meta({ problem }),
  tests: z.array(PolicyTest).max(POLICY_TESTS_MAX).optional().meta({ problem }),
}

export const PolicyCreateRequest = z
  .strictObject({ slug: Slug, display_name: DisplayName.optional(), ...document })
  .meta({ id: 'PolicyCreateRequest', problem })

/** Members that are present replace those of the policy. */
export const PolicyPatchRequest = z
  .strictObject({
    display_name: DisplayName.optional(),
    selector: Selector.optional(),
    isolates: document.isolates,
    rules: document.rules.optional(),
    tests: document.tests,
  })
  .meta({ id: 'PolicyPatchRequest', problem })

export const PolicyRollbackRequest = z
  .strictObject({ revision_id: uuidField('invalid_revision_id', 'A revision of the policy') })
  .meta({ id: 'PolicyRollbackRequest' })

const VacuousTest = z.object({ policy_id: Uuid, test: z.int(), selector: z.string() })

export const Policy = z
  .object({
    id: Uuid,
    domain_id: Uuid,
    slug: z.string(),
    display_name: z.string(),
    selector: z.string().describe('In canonical form'),
    isolates: z.array(z.enum(DIRECTIONS)),
    rules: z.array(PolicyRule),
    tests: z.array(PolicyTest),
    revision_id: Uuid,
    revision: z.int().describe('1, 2, 3 … within the policy'),
    fingerprint: z.string().describe('SHA-256 of the compiled rules, padded base64'),
    matched_count: z.int().describe('Nodes that the selector matches'),
    vacuous_tests: z
      .array(VacuousTest)
      .optional()
      .describe('After a write: tests of the Domain whose selector matches no node'),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Policy' })

export const PolicyRevision = z
  .object({
    revision_id: Uuid,
    revision: z.int(),
    display_name: z.string(),
    selector: z.string(),
    isolates: z.array(z.enum(DIRECTIONS)),
    rules: z.array(PolicyRule),
    tests: z.array(PolicyTest),
    fingerprint: z.string(),
    created_by: z.string(),
    created_at: Instant,
  })
  .meta({ id: 'PolicyRevision' })

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
  .strictObject({ policies: z.array(PolicyPreviewEntry).min(1).max(32) })
  .meta({ id: 'PolicyPreviewRequest', problem })

const Pair = z.object({ from_node_id: Uuid, from: z.string(), to_node_id: Uuid, to: z.string() })
const Pairs = z.object({
  count: z.int().describe('Ordered pairs of nodes; one may be both gained and lost'),
  sample: z.array(Pair).describe('The first 100'),
})

const Side = z.object({
  isolated: z.boolean(),
  allowed: z.boolean(),
  policy_id: Uuid.optional(),
  policy: z.string().optional(),
  rule: z.int().optional().describe('Index in the rules of the policy'),
})

const TestFailure = z.object({
  policy_id: Uuid.nullable().describe('Null for a policy that does not exist yet'),
  policy: z.string(),
  test: z.int(),
  from_node_id: Uuid,
  from: z.string().describe('Name of the sending node'),
  to_node_id: Uuid,
  to: z.string().describe('Name of the receiving node'),
  expect: z.enum(['allowed', 'denied']),
  egress: Side.optional().describe('What decides at the sending node'),
  ingress: Side.optional().describe('What decides at the receiving node'),
})

export const PolicyPreviewResponse = z
  .object({
    policies: z.array(
      z.object({
        slug: z.string(),
        matched_count: z.int(),
        sample: z.array(z.object({ node_id: Uuid, name: z.string() })),
        fingerprint: z.string().nullable(),
      }),
    ),
    gained: Pairs.describe('Ordered pairs of nodes between which some flow passes afterwards that did not before'),
    lost: Pairs.describe('Ordered pairs of nodes between which some flow passed before that does not afterwards'),
    failures: z.array(TestFailure),
    vacuous: z.array(z.object({ policy: z.string(), test: z.int(), selector: z.string() })),
    selector_errors: z.array(z.object({ pointer: z.string(), errors: z.array(SelectorErrorField) })).optional(),
  })
  .meta({ id: 'PolicyPreviewResponse' })

export const PolicyGraph = z
  .object({
    groups: z
      .array(
        z.object({
          group: z.int(),
          policies: z.array(z.string()).describe('Slugs of the policies that match its nodes'),
          node_count: z.int(),
          sample: z.array(z.object({ node_id: Uuid, name: z.string() })).describe('The first 20 of its nodes'),
        }),
      )
      .describe('Nodes that policies treat alike, the largest groups first'),
    edges: z.array(
      z.object({
        from: z.int().describe('Group of the senders'),
        to: z.int(),
        flows: z.array(z.string()).describe('any, or icmp, tcp 22, udp 53,8000-8100'),
      }),
    ),
    omitted_groups: z.int().describe('Groups beyond the first 64'),
  })
  .meta({ id: 'PolicyGraph' })

export const ReachabilityVerdict = z
  .object({
    from: Uuid,
    to: Uuid,
    protocol: z.string().nullable(),
    port: z.int().nullable(),
    allowed: z.boolean(),
    egress: Side.describe('What the sending node lets out, and by which rule'),
    ingress: Side.describe('What the receiving node lets in, and by which rule'),
  })
  .meta({ id: 'ReachabilityVerdict' })
