// An OpenID provider on loopback that gives JWT access tokens to one client; prints its address.
// POST /test/rotate gives it another key, POST /test/yesterday sets its clock back by a day.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import http from "node:http";
import Provider from "oidc-provider";

const key = () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), alg: "RS256", use: "sig" };
};

const provide = (issuer) =>
  new Provider(issuer, {
    jwks: { keys: [key()] },
    clients: [{
      client_id: "agent",
      client_secret: "secret",
      grant_types: ["client_credentials"],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: "client_secret_post",
    }],
    scopes: ["api-read", "mail"],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: "api-read mail",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  }).callback();

const server = http.createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  let answer = provide(issuer);
  server.on("request", (request, response) => {
    const real = Date.now;
    switch (request.url) {
      case "/test/rotate":
        answer = provide(issuer);
        return response.writeHead(204).end();
      case "/test/yesterday":
        Date.now = () => real() - 86_400_000;
        return response.writeHead(204).end();
      default:
        return answer(request, response);
    }
  });
  console.log(issuer);
});
