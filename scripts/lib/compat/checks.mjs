/**
 * Every difference that the gate knows, with its level (S1 Versioning 2 and 3): ERR breaks clients and fails, WARN is
 * worth a look, INFO is compatible. A pair is the level in what clients send and the level in what they are answered:
 * what widens the one narrows nobody, what widens the other surprises its readers.
 */
export const CHECKS = {
  'operation-added': 'INFO',
  'operation-removed': 'ERR',
  'operation-renamed': 'ERR',
  'path-parameter-renamed': 'WARN',
  'deprecation-added': 'INFO',
  'deprecation-removed': 'INFO',
  'sunset-added': 'INFO',
  'sunset-earlier': 'WARN',
  'sunset-later': 'INFO',
  'servers-changed': 'WARN',

  'parameter-added': 'INFO',
  'required-parameter-added': 'ERR',
  'parameter-removed': 'ERR',
  'parameter-changed': 'ERR',
  'parameter-became-required': 'ERR',
  'parameter-became-optional': 'INFO',

  'request-body-added': 'INFO',
  'required-request-body-added': 'ERR',
  'request-body-removed': 'ERR',
  'request-body-became-required': 'ERR',
  'request-body-became-optional': 'INFO',
  'request-body-cap-lowered': 'ERR',
  'request-body-cap-raised': 'INFO',
  'request-media-type-added': 'INFO',
  'request-media-type-removed': 'ERR',

  'success-status-added': 'ERR',
  'held-answer-added': 'INFO',
  'success-status-removed': 'ERR',
  'response-media-type-added': 'INFO',
  'response-media-type-removed': 'ERR',
  'response-header-added': 'INFO',
  'response-header-removed': 'ERR',
  'problem-status-added': 'INFO',
  'problem-status-removed': 'WARN',
  'problem-document-lost': 'ERR',
  'problem-shape-added': 'INFO',
  'problem-code-added': 'INFO',
  'problem-code-removed': 'WARN',
  'problem-code-moved': 'ERR',

  'credential-demanded': 'ERR',
  'credential-no-longer-demanded': 'WARN',
  'credential-added': 'INFO',
  'credential-removed': 'ERR',
  'credential-changed': 'ERR',
  'scope-changed': 'ERR',
  'gate-changed': 'WARN',

  'event-added': 'INFO',
  'event-removed': 'ERR',
  'event-moved': 'ERR',
  'node-format-added': 'INFO',
  'node-format-removed': 'ERR',
  'node-format-moved': 'ERR',
  'node-format-loosened': 'ERR',

  ...sides({
    'property-added': ['INFO', 'INFO'],
    'required-property-added': ['ERR', 'INFO'],
    'property-removed': ['ERR', 'ERR'],
    'property-became-required': ['ERR', 'INFO'],
    'property-became-optional': ['INFO', 'ERR'],
    'type-changed': ['ERR', 'ERR'],
    'type-narrowed': ['ERR', 'INFO'],
    'type-widened': ['INFO', 'ERR'],
    'enum-value-added': ['INFO', 'INFO'],
    'enum-value-removed': ['ERR', 'ERR'],
    'enum-introduced': ['ERR', 'INFO'],
    'enum-dropped': ['INFO', 'INFO'],
    'bound-tightened': ['ERR', 'INFO'],
    'bound-loosened': ['INFO', 'WARN'],
    'pattern-introduced': ['ERR', 'INFO'],
    'pattern-changed': ['ERR', 'WARN'],
    'pattern-dropped': ['INFO', 'WARN'],
    'format-introduced': ['ERR', 'INFO'],
    'format-changed': ['ERR', 'ERR'],
    'format-dropped': ['INFO', 'WARN'],
    'default-changed': ['WARN', 'WARN'],
    'unknown-members-refused': ['ERR', 'INFO'],
    'unknown-members-allowed': ['INFO', 'INFO'],
    'schema-introduced': ['ERR', 'INFO'],
    'schema-dropped': ['INFO', 'ERR'],
    'alternative-added': ['INFO', 'ERR'],
    'alternative-removed': ['ERR', 'WARN'],
    'keyword-changed': ['ERR', 'ERR'],
  }),
}

/** @typedef {'request' | 'response'} Side */

function sides(table) {
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, [request, response]]) => [
      [`request-${name}`, request],
      [`response-${name}`, response],
    ]),
  )
}
