// Apollo Server with its defaults, on any port of the loopback.
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { resolvers, told, typeDefs } from './notes.mjs'

const server = new ApolloServer({ typeDefs, resolvers })
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } })
told(url)
