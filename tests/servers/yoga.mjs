// GraphQL Yoga, on any port of the loopback, for one of the services beside it.
import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'

const { resolvers, typeDefs, validationRules = [] } = await import(`./${process.argv[3]}.mjs`)
const limits = { onValidate: ({ addValidationRule }) => validationRules.forEach(addValidationRule) }
const schema = createSchema({ typeDefs, resolvers })
const yoga = createYoga({ schema, logging: false, graphiql: false, plugins: [limits] })
const server = createServer(yoga)
// The URL is all that a server prints; it ends with its input.
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/graphql`))
process.stdin.resume().on('end', () => process.exit(0))
