// Benchmarks are plain JavaScript and start the same cluster.
export { freePort, postgresAccount, startPostgresCluster, type PostgresCluster } from './postgres-cluster.mjs'
