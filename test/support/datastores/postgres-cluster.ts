// Benchmarks are plain JavaScript and start the same cluster.
export {
  blankPostgresImage,
  freePort,
  postgresAccount,
  startPostgresCluster,
  type PostgresCluster,
} from './postgres-cluster.mjs'
