// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace firetower::k8s {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder like the one that Kubernetes mounts into a pod.
class ServiceAccountFolder {
 public:
  ServiceAccountFolder() {
    std::string name = ::testing::TempDir() + "service-account-XXXXXX";
    path_ = ::mkdtemp(name.data());
    Write("token", "abc.def\n");
    Write("ca.crt", "a certificate");
    Write("namespace", "shop");
  }
  ~ServiceAccountFolder() { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(WriteFileAtomic(path_ + "/" + name, text));
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ServerUrl, ReadsNamesAddressesPortsAndPaths) {
  const auto parts = [](std::string_view text) {
    Result<net::Url> url = ParseServerUrl(text);
    return url ? (url->tls ? "tls " : "plain ") + url->host + " " + std::to_string(url->port) +
                     " '" + url->path + "'"
               : url.error().message();
  };
  EXPECT_EQ(parts("https://10.96.0.1:6443"), "tls 10.96.0.1 6443 ''");
  EXPECT_EQ(parts("https://api.example.com"), "tls api.example.com 443 ''");
  EXPECT_EQ(parts("http://localhost:8001/"), "plain localhost 8001 ''");
  EXPECT_EQ(parts("https://rancher.example/k8s/clusters/c-1/"),
            "tls rancher.example 443 '/k8s/clusters/c-1'");
  EXPECT_EQ(parts("https://[fd00:10:96::1]:6443"), "tls fd00:10:96::1 6443 ''");
  EXPECT_EQ(parts("https://[::1]"), "tls ::1 443 ''");
}

TEST(ServerUrl, SaysWhatIsWrong) {
  for (const std::string_view text :
       {"", "10.96.0.1:6443", "ftp://x", "https://", "https://a:0", "https://a:65536",
        "https://a:1x", "https://::1", "https://[::1", "https://[::1]x", "https://[1.2.3.4]",
        "https://a b", "https://user@host", "https://a/x?y", "https://a/x y"}) {
    Result<net::Url> url = ParseServerUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code(), ErrorCode::kInvalid) << text;
    EXPECT_THAT(url.error().message(), HasSubstr("write for example")) << text;
  }
  // Nothing is overlooked behind a null character.
  EXPECT_FALSE(ParseServerUrl(std::string_view("https://[::1\0\r\n]", 16)));
}

TEST(InClusterConfig, NamesTheMountedFiles) {
  ServiceAccountFolder folder;
  Result<ClientConfig> config = InClusterConfig("10.96.0.1", "443", folder.path());
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->ServerText(), "https://10.96.0.1:443");
  EXPECT_EQ(config->token_file, folder.path() + "/token");
  EXPECT_EQ(config->ca.path, folder.path() + "/ca.crt");
  EXPECT_EQ(config->default_namespace, "shop");
  EXPECT_TRUE(config->in_pod);
  EXPECT_FALSE(config->insecure_skip_tls_verify);
}

TEST(InClusterConfig, TakesAnIpv6ServiceHost) {
  ServiceAccountFolder folder;
  Result<ClientConfig> config = InClusterConfig("fd00:10:96::1", "443", folder.path());
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->server.host, "fd00:10:96::1");
  EXPECT_EQ(config->ServerText(), "https://[fd00:10:96::1]:443");
}

TEST(InClusterConfig, SaysWhatIsMissing) {
  ServiceAccountFolder folder;
  EXPECT_EQ(InClusterConfig("", "", folder.path()).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(InClusterConfig("10.0.0.1", "https", folder.path()).error().code(),
            ErrorCode::kInvalid);
  EXPECT_EQ(InClusterConfig("a/b", "443", folder.path()).error().code(), ErrorCode::kInvalid);
  folder.Write("token", "");
  EXPECT_THAT(InClusterConfig("10.0.0.1", "443", folder.path()).error().message(),
              AllOf(HasSubstr("/token: is empty"), HasSubstr("automountServiceAccountToken")));
  std::filesystem::remove(folder.path() + "/token");
  EXPECT_EQ(InClusterConfig("10.0.0.1", "443", folder.path()).error().code(), ErrorCode::kNotFound);
}

// Text that `kubectl config` writes (and kind, with its data inline).
constexpr std::string_view kKubeconfig = R"(apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: kind
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: Y2VydGlmaWNhdGU=
- name: far
  cluster: {server: "https://[fd00::1]:6443/base", certificate-authority: pki/ca.crt, tls-server-name: api.far}
- name: open
  cluster: {server: "https://10.0.0.1", insecure-skip-tls-verify: true}
users:
- name: admin
  user:
    client-certificate-data: Y2VydA==
    client-key-data: a2V5
- name: robot
  user: {tokenFile: robot.token}
- name: plain
  user: {token: secret}
- name: cloud
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./get-token
      args: [--region, eu]
      env: [{name: PROFILE, value: prod}]
      installHint: install it from the shelf
      interactiveMode: IfAvailable
      provideClusterInfo: true
contexts:
- name: dev
  context: {cluster: kind, user: admin, namespace: shop}
- name: far
  context: {cluster: far, user: robot}
- name: open
  context: {cluster: open, user: plain}
- name: cloud
  context: {cluster: kind, user: cloud}
- name: broken
  context: {cluster: kund, user: admin}
- name: anonymous
  context: {cluster: open}
)";

TEST(Kubeconfig, ReadsInlineCertificates) {
  Result<ClientConfig> config = ParseKubeconfig(kKubeconfig, "/home/x/.kube");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->ServerText(), "https://127.0.0.1:6443");
  EXPECT_EQ(config->ca.data, "certificate");
  EXPECT_EQ(config->client_certificate.data, "cert");
  EXPECT_EQ(config->client_key.data, "key");
  EXPECT_EQ(config->default_namespace, "shop");
  EXPECT_FALSE(config->in_pod);
}

TEST(Kubeconfig, PathsAreRelativeToItsFolder) {
  Result<ClientConfig> config = ParseKubeconfig(kKubeconfig, "/home/x/.kube", "far");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->ServerText(), "https://[fd00::1]:6443/base");
  EXPECT_EQ(config->ca.path, "/home/x/.kube/pki/ca.crt");
  EXPECT_EQ(config->token_file, "/home/x/.kube/robot.token");
  EXPECT_EQ(config->tls_server_name, "api.far");
}

TEST(Kubeconfig, TakesTokensAndSkippedVerification) {
  Result<ClientConfig> config = ParseKubeconfig(kKubeconfig, ".", "open");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->token, "secret");
  EXPECT_TRUE(config->insecure_skip_tls_verify);
  EXPECT_TRUE(ParseKubeconfig(kKubeconfig, ".", "anonymous"));
}

TEST(Kubeconfig, ReadsExecPlugins) {
  Result<ClientConfig> config = ParseKubeconfig(kKubeconfig, "/k", "cloud");
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_TRUE(config->exec);
  EXPECT_EQ(config->exec->command, "/k/./get-token");
  EXPECT_THAT(config->exec->arguments, ::testing::ElementsAre("--region", "eu"));
  EXPECT_THAT(config->exec->environment,
              ::testing::ElementsAre(::testing::Pair("PROFILE", "prod")));
  EXPECT_TRUE(config->exec->provide_cluster_info);
}

std::string ErrorOf(std::string text, std::string_view context = "") {
  Result<ClientConfig> config = ParseKubeconfig(text, ".", context);
  return config ? "accepted" : config.error().message();
}

std::string Replaced(std::string_view from, std::string_view to) {
  std::string text(kKubeconfig);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST(Kubeconfig, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(ErrorOf(std::string(kKubeconfig), "broken"), HasSubstr("did you mean 'kind'?"));
  EXPECT_THAT(ErrorOf(std::string(kKubeconfig), "devv"),
              HasSubstr("contexts has no entry named 'devv'; did you mean 'dev'?"));
  EXPECT_THAT(ErrorOf(Replaced("current-context: dev\n", "")), HasSubstr("no current-context"));
  EXPECT_THAT(ErrorOf(Replaced("https://127.0.0.1:6443", "127.0.0.1:6443")),
              AllOf(HasSubstr("line 7: "), HasSubstr("must start with https://")));
  EXPECT_THAT(ErrorOf(Replaced("a2V5", "a2V")),
              HasSubstr("line 17: client-key-data is not base64"));
  EXPECT_THAT(ErrorOf(Replaced("    client-key-data: a2V5\n", "")), HasSubstr("one is missing"));
  EXPECT_THAT(
      ErrorOf(Replaced("insecure-skip-tls-verify: true", "insecure-skip-tls-verify: yes"), "open"),
      HasSubstr("must be true or false"));
  EXPECT_THAT(ErrorOf(Replaced("client.authentication.k8s.io/v1\n",
                               "client.authentication.k8s.io/v1beta1\n"),
                      "cloud"),
              HasSubstr("only client.authentication.k8s.io/v1 is spoken"));
  EXPECT_THAT(ErrorOf(Replaced("IfAvailable", "Always"), "cloud"), HasSubstr("cannot ask a user"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("must be a map"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("empty"));
}

TEST(Kubeconfig, RefusesWhatItWouldOtherwiseIgnore) {
  EXPECT_THAT(ErrorOf(Replaced("{token: secret}", "{username: a, password: b}"), "open"),
              HasSubstr("take no passwords"));
  EXPECT_THAT(ErrorOf(Replaced("{token: secret}", "{token: secret, as: root}"), "open"),
              HasSubstr("as is not supported"));
}

TEST(Kubeconfig, TakesAProxyAndShowsNoneThatIsWrong) {
  const auto with_proxy = [](const std::string& url) {
    return Replaced("    server: https://127.0.0.1:6443\n",
                    "    server: https://127.0.0.1:6443\n    proxy-url: " + url + "\n");
  };
  Result<ClientConfig> config = ParseKubeconfig(with_proxy("http://u:p@proxy:3128"), ".");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->proxy_url, "http://u:p@proxy:3128");
  EXPECT_THAT(ErrorOf(with_proxy("ftp://u:hunter2@proxy")),
              AllOf(HasSubstr("line 8: proxy-url must be http://HOST:PORT"),
                    ::testing::Not(HasSubstr("hunter2"))));
}

TEST(Kubeconfig, EveryPrefixIsReadOrRefused) {
  for (size_t size = 0; size < kKubeconfig.size(); ++size)
    EXPECT_NO_FATAL_FAILURE((void)ParseKubeconfig(kKubeconfig.substr(0, size), "."));
}

TEST(Kubeconfig, NamesTheFileThatIsNotThere) {
  Result<ClientConfig> config = LoadKubeconfig("/nowhere/config");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(config.error().message(), HasSubstr("/nowhere/config"));
}

}  // namespace
}  // namespace firetower::k8s
