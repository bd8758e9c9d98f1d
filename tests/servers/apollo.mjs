// Apollo Server with its defaults, on any port of the loopback, for one of the services beside it.
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'

const { resolvers, typeDefs, validationRules } = await import(`./${process.argv[3]}.mjs`)
const server = new ApolloServer({ includeStacktraceInErrorResponses: false, typeDefs, resolvers, validationRules })
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } })
// The URL is all that a server prints; it ends with its input.
console.log(url)
process.stdin.resume().on('end', () => process.exit(0))
