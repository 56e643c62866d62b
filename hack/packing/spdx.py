# SPDX-License-Identifier: Apache-2.0
"""The image's bill of materials, SPDX 2.3 in JSON: ours, and the Debian packages that its files are of."""

import datetime
import hashlib
import json
import re
import urllib.parse


def _reference(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def _url(name, version, **qualifiers):
    """A package URL; its version is percent-encoded, the epoch's colon and a plus among it."""
    query = "&".join(f"{key}={value}" for key, value in sorted(qualifiers.items()) if value)
    return f"pkg:deb/debian/{name}@{urllib.parse.quote(version, safe='~')}?{query}"


def _package(package, release):
    url = _url(package.name, package.version, arch=package.architecture, distro=release)
    told = {
        "SPDXID": _reference(f"deb-{package.name}"), "name": package.name, "versionInfo": package.version,
        "supplier": "Organization: Debian", "originator": f"Organization: {package.maintainer}",
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "sourceInfo": f"built from the Debian source package {package.source} {package.source_version}",
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "comment": f"licences: /usr/share/doc/{package.name}/copyright",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}],
    }
    if package.homepage:
        told["homepage"] = package.homepage
    return told


def document(version, loaded, compiled_in, release, epoch):
    """The bytes of the document; `release` is the distribution's, as debian-12."""
    ours = {
        "SPDXID": _reference("firetower"), "name": "firetower", "versionInfo": version,
        "supplier": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0 AND (GPL-2.0-or-later OR BSD-2-Clause)",
        "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
    }
    packages = [ours, *(_package(one, release) for one in (*loaded, *compiled_in))]
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", ours["SPDXID"])]
    relationships += [(ours["SPDXID"], "CONTAINS", _reference(f"deb-{one.name}")) for one in loaded]
    relationships += [(ours["SPDXID"], "STATIC_LINK", _reference(f"deb-{one.name}")) for one in compiled_in]
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    moment = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    return (json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"firetower-{version}",
        # No address to be fetched: a name that no other document has.
        "documentNamespace": f"https://firetower.dev/spdx/firetower-{version}-{digest[:32]}",
        "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: firetower-hack-image"]},
        "packages": packages,
        "relationships": [{"spdxElementId": one, "relationshipType": what, "relatedSpdxElement": other}
                          for one, what, other in relationships],
    }, indent=1) + "\n").encode()
