/** Values of `error` (RFC 6749 §5.2, RFC 8628 §3.5); a problem without one of its own has one of the last three. */
const OAUTH_ERRORS = [
  'access_denied',
  'authorization_pending',
  'expired_token',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'slow_down',
  'unsupported_grant_type',
  'invalid_request',
  'server_error',
  'temporarily_unavailable',
]

/** Parts of the document that no operation declares: problems, headers, credentials. */
export const SHARED_COMPONENTS = {
  headers: {
    XCorrelationId: {
      description: 'Identifies the request in the server log and the audit row.',
      schema: { type: 'string' },
    },
    XServiceApiVersion: {
      description: 'Current and latest major version.',
      schema: { type: 'string', examples: ['current=v1, latest=v1'] },
    },
    Deprecation: {
      description: 'Since when the operation is deprecated: `@` and Unix seconds (RFC 9745).',
      schema: { type: 'string' },
    },
    Sunset: { description: 'When the operation may go away (RFC 8594).', schema: { type: 'string' } },
    RateLimit: {
      description:
        'The exceeded limit, the remaining calls, and the seconds until there are more (draft-ietf-httpapi-ratelimit-headers). Only on 429.',
      schema: { type: 'string', examples: ['"node";r=0;t=1'] },
    },
    RateLimitPolicy: {
      description: 'The limit: a number of calls in a number of seconds.',
      schema: { type: 'string', examples: ['"node";q=10;w=1'] },
    },
    WWWAuthenticate: {
      description:
        'How to sign in: `Bearer`. Where the sign-in has to be a stronger one, with `error`, `acr_values` and `max_age` (RFC 9470).',
      schema: { type: 'string', examples: ['Bearer'] },
    },
    RetryAfter: { description: 'Seconds after which a retry is sensible.', schema: { type: 'string' } },
  },
  securitySchemes: {
    apiToken: { type: 'http', scheme: 'bearer', bearerFormat: 'psk_…', description: 'API token' },
    oidcJwt: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: "Token of the Domain's identity provider",
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'service_session',
      description:
        'Browser session. Changes are accepted only from allowed origins; some also need its anti-forgery token.',
    },
    nodeSecretKey: { type: 'http', scheme: 'bearer', bearerFormat: 'nsk_…', description: 'Secret key of one node' },
    joinToken: { type: 'http', scheme: 'bearer', bearerFormat: 'jtk_…', description: 'Token that nodes join with' },
    clientAssertion: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Assertion of a workload' },
  },
  schemas: {
    Problem: {
      type: 'object',
      description: 'Problem document (RFC 9457). Some codes carry further members.',
      required: ['type', 'title', 'status', 'detail', 'code', 'correlation_id'],
      properties: {
        type: { type: 'string', description: 'Ends with the kebab form of the code' },
        title: { type: 'string', description: 'The problem in a few words' },
        status: { type: 'integer', description: 'HTTP status of the answer' },
        detail: { type: 'string', description: 'A fixed sentence for each code' },
        code: { type: 'string', description: 'What programs tell problems apart by; later servers may send others' },
        correlation_id: { type: 'string', description: 'Identifies the request in the server log and the audit log' },
        dimension: { type: 'string', description: 'With `capacity_exceeded`: what the Domain has too much of' },
        errors: {
          type: 'array',
          description: 'Invalid members of the body, or the errors of a selector with their places in bytes of UTF-8',
          items: {
            anyOf: [
              {
                type: 'object',
                required: ['pointer', 'detail'],
                properties: {
                  pointer: { type: 'string', description: 'Place in the body (RFC 6901)' },
                  detail: { type: 'string', description: 'What is wrong there' },
                },
              },
              {
                type: 'object',
                required: ['offset', 'length', 'code', 'message', 'expected'],
                properties: {
                  offset: { type: 'integer', description: 'Where the fault begins, in bytes of UTF-8' },
                  length: { type: 'integer', description: 'How long it is, in bytes of UTF-8' },
                  code: { type: 'string', description: 'What is wrong' },
                  message: { type: 'string', description: 'What is wrong, in one sentence' },
                  expected: {
                    type: 'array',
                    items: { type: 'string' },
                    description: 'What could be there instead',
                  },
                },
              },
            ],
          },
        },
      },
    },
    OAuthProblem: {
      description: 'A problem with the member that OAuth clients read (RFC 6749 §5.2, RFC 8628 §3.5).',
      allOf: [
        { $ref: '#/components/schemas/Problem' },
        {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              anyOf: [{ type: 'string', enum: OAUTH_ERRORS }, { type: 'string' }],
              description: 'The error code that OAuth clients read',
            },
          },
        },
      ],
    },
    PermissionDenied: {
      type: 'object',
      description: 'The caller lacks a relation. The same for an unknown object and a forbidden one.',
      required: [
        'type',
        'title',
        'status',
        'detail',
        'code',
        'correlation_id',
        'reason',
        'relation_path',
        'missing_relation',
      ],
      properties: {
        type: { type: 'string', description: '`/problems/permission-denied`' },
        title: { type: 'string', description: 'The problem in a few words' },
        status: { type: 'integer', description: '403' },
        detail: { type: 'string', description: 'A fixed sentence' },
        code: { type: 'string', const: 'permission_denied', description: 'What programs tell problems apart by' },
        correlation_id: { type: 'string', description: 'Identifies the request in the server log and the audit log' },
        reason: {
          type: 'string',
          enum: ['insufficient_relation', 'out_of_scope'],
          description: 'Whether the caller lacks the relation, or its credential the scope',
        },
        relation_path: {
          type: 'array',
          items: { type: 'string' },
          description: 'Relations that would have granted it',
        },
        missing_relation: {
          type: 'object',
          required: ['object', 'relation', 'subject'],
          description: 'The tuple that would have granted it',
          properties: {
            object: { type: 'string', description: 'What was asked for, `<type>:<id>`' },
            relation: { type: 'string', description: 'The relation that is missing' },
            subject: { type: 'string', description: 'The caller' },
          },
        },
      },
    },
  },
} as const
