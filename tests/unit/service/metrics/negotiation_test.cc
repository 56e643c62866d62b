// SPDX-License-Identifier: Apache-2.0
#include "service/metrics/negotiation.h"

#include <gtest/gtest.h>

namespace firetower::service {
namespace {

constexpr ExpositionFormat kText = ExpositionFormat::kText;
constexpr ExpositionFormat kOpen = ExpositionFormat::kOpenMetrics;

TEST(NegotiateFormat, AnswersWhatPrometheusAsks) {
  // Accept headers of Prometheus 2.42 and 3.0.
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text;version=1.0.0,"
                            "application/openmetrics-text;version=0.0.1;q=0.75,"
                            "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            kOpen);
  EXPECT_EQ(NegotiateFormat("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                            "application/openmetrics-text;version=0.0.1;q=0.5,"
                            "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                            "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
            kOpen);
}

TEST(NegotiateFormat, TextUnlessOpenMetricsIsWanted) {
  for (const char* accept :
       {"", "*/*", "text/html,application/xml;q=0.9,*/*;q=0.8", "text/plain", "application/json",
        "application/openmetrics-text;version=2.0.0", "application/openmetrics-text;q=0",
        ";;,,;q=", "q=1", "application/openmetrics-text;q=0.3,text/plain;q=0.5",
        "application/openmetrics-text;q=junk"}) {
    EXPECT_EQ(NegotiateFormat(accept), kText) << accept;
  }
  EXPECT_EQ(NegotiateFormat("Application/OpenMetrics-Text ; version=\"1.0.0\" ; q=0.5"), kOpen);
  EXPECT_EQ(NegotiateFormat("text/plain;q=0.5, application/openmetrics-text"), kOpen);
}

TEST(NegotiateFormat, EveryPrefixOfAHeaderHasAnAnswer) {
  std::string_view accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4";
  for (size_t n = 0; n <= accept.size(); ++n) {
    ExpositionFormat format = NegotiateFormat(accept.substr(0, n));
    EXPECT_TRUE(format == kText || format == kOpen);
  }
}

TEST(ContentTypeOf, NamesVersionAndCharset) {
  EXPECT_EQ(ContentTypeOf(kText), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(ContentTypeOf(kOpen), "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

}  // namespace
}  // namespace firetower::service
