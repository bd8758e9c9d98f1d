// GraphQL Yoga, on any port of the loopback.
import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import { resolvers, told, typeDefs } from './notes.mjs'

const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false, graphiql: false })
const server = createServer(yoga)
server.listen(0, '127.0.0.1', () => told(`http://127.0.0.1:${server.address().port}/graphql`))
